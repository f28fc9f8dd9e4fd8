// reprise: normalizations of channels and rotary embedding, each as a group of its own, against the
// interpreter
#include "NestHarness.h"

using namespace reprise::test;

namespace {

using Strings = std::vector<std::string>;

const Strings floats = {"f32", "f64", "bf16", "f16"};

struct LoopsNorms : LoopHarness {
  /// Checks `op`, from operands to results, both with types separated by commas: $X is the image,
  /// $C the channels of its type, $S the channels in the type of arithmetic, $G the statistics of
  /// groups.
  void norm(const std::string &op, const std::string &operands, const std::string &results,
            const std::string &element, const std::vector<int64_t> &shape, int64_t groups = 1) {
    std::string wide = element == "f64" ? "f64" : "f32", x = "tensor<";
    for (int64_t size : shape)
      x += std::to_string(size) + "x";
    std::string channels = "tensor<" + std::to_string(shape[1]) + "x";
    auto filled = [&](std::string text) {
      text = fill(text, "$X", x + element + ">");
      text = fill(text, "$C", channels + element + ">");
      text = fill(text, "$S", channels + wide + ">");
      return fill(text, "$G",
                  "tensor<" + std::to_string(shape[0]) + "x" + std::to_string(groups) + "x" + wide +
                      ">");
    };
    Strings from = split(filled(operands)), to = split(filled(results));
    std::string arguments, names, values;
    for (size_t i = 0; i < from.size(); ++i) {
      arguments += (i ? ", %a" : "%a") + std::to_string(i) + ": " + from[i];
      names += (i ? ", %a" : " %a") + std::to_string(i);
    }
    for (size_t i = 0; i < to.size(); ++i)
      values += (i ? ", %r#" : "%r#") + std::to_string(i);
    std::string own = op == "group_norm" ? " groups " + std::to_string(groups) : "";
    check("func.func @f(" + arguments + ") -> (" + join(to) +
          ") {\n  %r:" + std::to_string(to.size()) + " = reprise." + op + names + own +
          " {epsilon = 1.0e-5 : f64} : (" + join(from) + ") -> (" + join(to) + ")\n  return " +
          values + " : " + join(to) + "\n}");
  }

private:
  static Strings split(const std::string &text) {
    Strings parts(1);
    for (char c : text)
      c == ',' ? parts.emplace_back() : parts.back() += c;
    return parts;
  }
  static std::string join(const Strings &parts) {
    std::string text;
    for (const std::string &part : parts)
      text += (text.empty() ? "" : ", ") + part;
    return text;
  }
};

const std::vector<std::vector<int64_t>> images = {
    {2, 3, 4, 5}, {4, 17, 8, 8}, {1, 6, 1, 1}, {3, 4, 7}, {70, 5}, {5, 20, 2, 2}, {2, 4, 3, 2, 3}};

TEST_F(LoopsNorms, BatchNorm) {
  for (const std::string &type : floats)
    for (const std::vector<int64_t> &shape : images) {
      norm("batch_norm", "$X,$C,$C", "$X,$S,$S", type, shape);
      EXPECT_EQ(commands, shape == images[4] ? 5u : 1u);
    }
  specials = false;
  norm("batch_norm", "$X,$C,$C", "$X,$S,$S", "f32", {16, 16, 24, 24});
  EXPECT_EQ(commands, 1u);
  // Few long channels are shared out among workers.
  norm("batch_norm", "$X,$C,$C", "$X,$S,$S", "f32", {5, 3, 100, 90});
}

TEST_F(LoopsNorms, BatchStatistics) {
  for (std::string type : {"f32", "f64"})
    for (std::string size : {"1", "33"}) {
      std::string c = "tensor<" + size + "x" + type + ">";
      check("func.func @f(%m: " + c + ", %v: " + c + ") -> (" + c + ", " + c +
            ") {\n  %r:2 = reprise.batch_statistics %m, %v count 6 : " + c +
            "\n  return %r#0, %r#1 : " + c + ", " + c + "\n}");
    }
}

TEST_F(LoopsNorms, BatchNormInference) {
  for (const std::string &type : floats)
    for (const std::vector<int64_t> &shape : images) {
      norm("batch_norm_inference", "$X,$C,$C,$S,$S", "$X", type, shape);
      EXPECT_EQ(commands, 1u);
    }
}

TEST_F(LoopsNorms, GroupNorm) {
  for (const std::string &type : floats)
    for (const auto &[shape, groups] :
         std::vector<std::pair<std::vector<int64_t>, int64_t>>{{{2, 6, 4, 5}, 3},
                                                               {{4, 16, 8, 8}, 4},
                                                               {{1, 6, 1, 1}, 6},
                                                               {{3, 4, 7}, 1},
                                                               {{9, 6}, 2}}) {
      norm("group_norm", "$X,$C,$C", "$X,$G,$G", type, shape, groups);
      EXPECT_EQ(commands, 1u);
    }
  specials = false;
  norm("group_norm", "$X,$C,$C", "$X,$G,$G", "f32", {3, 32, 16, 24}, 8);
}

TEST_F(LoopsNorms, RmsNorm) {
  for (const std::string &type : floats)
    for (const std::string &size : Strings{"1", "33", "128", "5000"}) {
      specials = size != "5000";
      std::string x = "tensor<3x4x" + size + "x" + type + ">",
                  w = "tensor<" + size + "x" + type + ">";
      std::string s = type == "f64" ? "tensor<3x4xf64>" : "tensor<3x4xf32>";
      check("func.func @f(%x: " + x + ", %w: " + w + ") -> (" + x + ", " + s +
            ") {\n  %r:2 = reprise.rms_norm %x, %w {epsilon = 1.0e-5 : f64} : (" + x + ", " + w +
            ") -> (" + x + ", " + s + ")\n  return %r#0, %r#1 : " + x + ", " + s + "\n}");
      EXPECT_EQ(commands, 1u);
    }
}

TEST_F(LoopsNorms, Rotary) {
  for (const std::string &type : floats)
    for (const auto &[lead, size, half] :
         std::vector<std::tuple<std::string, std::string, std::string>>{
             {"2x3x5x", "32", "16"}, {"7x", "6", "3"}, {"2x1x", "2", "1"}, {"3x40x", "64", "32"}}) {
      std::string x = "tensor<" + lead + size + "x" + type + ">";
      std::string rows = lead.substr(lead.rfind('x', lead.size() - 2) + 1);
      std::string table = "tensor<" + rows + half + "x" + (type == "f64" ? "f64>" : "f32>");
      check("func.func @f(%x: " + x + ", %c: " + table + ", %s: " + table + ") -> " + x +
            " {\n  %r = reprise.rotary %x, %c, %s : " + x + ", " + table + "\n  return %r : " + x +
            "\n}");
      EXPECT_EQ(commands, 1u);
    }
}

// The first nest reduces rows and, in blocks, columns; the second adds the blocks.
TEST_F(LoopsNorms, GradientsOfRows) {
  for (const std::string &type : floats) {
    check(fill(R"(
func.func @f(%g: tensor<2x100x40x$T>, %normal: tensor<2x100x40x$T>, %w: tensor<40x$T>)
    -> (tensor<40x$T>, tensor<40x$T>, tensor<2x100x40x$T>) {
  %spread = reprise.broadcast %w dims [2] : (tensor<40x$T>) -> tensor<2x100x40x$T>
  %h = reprise.mul %g, %spread : tensor<2x100x40x$T>
  %p = reprise.mul %g, %normal : tensor<2x100x40x$T>
  %dw = reprise.sum %p dims [0, 1] : (tensor<2x100x40x$T>) -> tensor<40x$T>
  %db = reprise.sum %g dims [0, 1] : (tensor<2x100x40x$T>) -> tensor<40x$T>
  %mean = reprise.mean %h dims [2] : (tensor<2x100x40x$T>) -> tensor<2x100x$T>
  %means = reprise.broadcast %mean dims [0, 1] : (tensor<2x100x$T>) -> tensor<2x100x40x$T>
  %dx = reprise.sub %h, %means : tensor<2x100x40x$T>
  return %dw, %db, %dx : tensor<40x$T>, tensor<40x$T>, tensor<2x100x40x$T>
})",
               "$T", type));
    EXPECT_EQ(commands, 2u);
  }
}

TEST_F(LoopsNorms, GradientsOfChannels) {
  for (const std::string &shape : {"3x5x4x8x", "2x20x3x3x", "40x3x2x2x"}) {
    std::string channels = shape.substr(shape.find('x') + 1);
    channels = channels.substr(0, channels.find('x') + 1);
    check(fill(fill(R"(
func.func @f(%g: tensor<$Sf32>, %x: tensor<$Sf32>, %m: tensor<$Cf32>, %r: tensor<$Cf32>)
    -> (tensor<$Cf32>, tensor<$Cf32>, tensor<$Sf32>) {
  %means = reprise.broadcast %m dims [1] : (tensor<$Cf32>) -> tensor<$Sf32>
  %centred = reprise.sub %x, %means : tensor<$Sf32>
  %factors = reprise.broadcast %r dims [1] : (tensor<$Cf32>) -> tensor<$Sf32>
  %normal = reprise.mul %centred, %factors : tensor<$Sf32>
  %p = reprise.mul %g, %normal : tensor<$Sf32>
  %dw = reprise.sum %p dims [0, 2, 3] : (tensor<$Sf32>) -> tensor<$Cf32>
  %db = reprise.sum %g dims [0, 2, 3] : (tensor<$Sf32>) -> tensor<$Cf32>
  %products = reprise.broadcast %dw dims [1] : (tensor<$Cf32>) -> tensor<$Sf32>
  %along = reprise.mul %normal, %products : tensor<$Sf32>
  %sums = reprise.broadcast %db dims [1] : (tensor<$Cf32>) -> tensor<$Sf32>
  %across = reprise.sub %g, %sums : tensor<$Sf32>
  %dx = reprise.sub %across, %along : tensor<$Sf32>
  return %dw, %db, %dx : tensor<$Cf32>, tensor<$Cf32>, tensor<$Sf32>
})",
                    "$S", shape),
               "$C", channels));
    EXPECT_EQ(commands, 1u);
  }
}

} // namespace
