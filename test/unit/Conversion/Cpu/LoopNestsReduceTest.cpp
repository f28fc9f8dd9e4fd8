// reprise: reductions, composite and random ops, each as a group of its own, against the
// interpreter
#include "NestHarness.h"

using namespace reprise::test;

namespace {

using Strings = std::vector<std::string>;

const Strings floats = {"f32", "f64", "bf16", "f16"};
const Strings numbers = {"f32", "f64", "bf16", "f16", "i32", "i64"};

std::string with(std::string text, const std::string &element) {
  for (size_t at; (at = text.find('T')) != std::string::npos;)
    text.replace(at, 1, element);
  return text;
}

struct LoopsReductions : LoopHarness {
  void reduce(const std::string &op, const std::string &dims, const std::string &from,
              const std::string &to, const Strings &types = numbers) {
    for (const std::string &type : types)
      check(with("func.func @f(%a: " + from + ") -> " + to + " {\n  %r = reprise." + op +
                     " %a dims [" + dims + "] : (" + from + ") -> " + to + "\n  return %r : " + to +
                     "\n}",
                 type));
  }
  void allKinds(const std::string &dims, const std::string &from, const std::string &to) {
    for (const std::string &op : Strings{"sum", "prod", "max", "min"})
      reduce(op, dims, from, to);
    for (const std::string &op : Strings{"mean", "logsumexp"})
      reduce(op, dims, from, to, floats);
  }
};

TEST_F(LoopsReductions, Rows) {
  allKinds("1", "tensor<5x70xT>", "tensor<5xT>");
  allKinds("0", "tensor<1xT>", "tensor<T>");
  allKinds("0, 1", "tensor<5x33xT>", "tensor<T>");
  allKinds("2", "tensor<3x4x1xT>", "tensor<3x4xT>");
  allKinds("1", "tensor<3x0xT>", "tensor<3xT>");
  specials = false;
  reduce("sum", "1", "tensor<20x4096xT>", "tensor<20xT>", {"f32"});
  reduce("sum", "1", "tensor<20x4097xT>", "tensor<20xT>", {"f32", "bf16"});
  reduce("mean", "1", "tensor<17x20001xT>", "tensor<17xT>", {"f32"});
}

TEST_F(LoopsReductions, LeadingDims) {
  allKinds("0", "tensor<5x70xT>", "tensor<70xT>");
  allKinds("0", "tensor<200x35xT>", "tensor<35xT>");
  allKinds("0, 1", "tensor<9x20x3xT>", "tensor<3xT>");
  allKinds("0", "tensor<0x3xT>", "tensor<3xT>");
  allKinds("1", "tensor<3x130x33xT>", "tensor<3x33xT>");
  specials = false;
  reduce("sum", "0", "tensor<1000x300xT>", "tensor<300xT>", {"f32", "f16"});
  reduce("sum", "0", "tensor<6400x1xT>", "tensor<1xT>", {"f32"});
}

TEST_F(LoopsReductions, PartsFoldOnceBeforeAReductionOfTheirOwn) {
  specials = false;
  check(R"(
func.func @f(%a: tensor<100x50xf32>) -> tensor<50xf32> {
  %0 = reprise.sum %a dims [0] : (tensor<100x50xf32>) -> tensor<50xf32>
  %1 = reprise.softmax %0 : tensor<50xf32>
  return %1 : tensor<50xf32>
})");
}

/// Threads of a GPU share rows in eighths of a warp, or in whole ones; the last warp has spare
/// threads.
TEST_F(LoopsReductions, RowsOfEveryLength) {
  for (const std::string &type : Strings{"41x32xf32", "42x20xbf16", "43x4xf64", "41x10xf32",
                                         "42x33xbf16", "43x1xf64", "41x127xf32", "41x128xf32",
                                         "41x129xf32", "40x1000xf32", "40x3072xf32", "7x3000xf64"})
    check(fill(
        "func.func @f(%x: TYPE) -> TYPE {\n  %0 = reprise.softmax %x : TYPE\n  return %0 : TYPE\n}",
        "TYPE", "tensor<" + type + ">"));
}

TEST_F(LoopsReductions, ScatteredDims) {
  allKinds("0, 2", "tensor<3x5x32xT>", "tensor<5xT>");
  allKinds("0, 2", "tensor<3x5x7xT>", "tensor<5xT>");
  allKinds("0, 2", "tensor<3x5x7x4xT>", "tensor<5x4xT>");
  specials = false;
  reduce("sum", "0, 2", "tensor<70x3x40xT>", "tensor<3xT>", {"f32"});
  reduce("sum", "0, 2", "tensor<70x3x40x5xT>", "tensor<3x5xT>", {"f32"});
  reduce("sum", "0, 2", "tensor<70x3x1000xT>", "tensor<3xT>", {"f32"});
}

TEST_F(LoopsReductions, FewLongRows) {
  specials = false;
  reduce("sum", "0", "tensor<100000xT>", "tensor<T>", {"f32", "f64", "bf16", "i32"});
  reduce("mean", "1", "tensor<3x40961xT>", "tensor<3xT>", {"f32", "f16"});
  reduce("max", "0, 1", "tensor<300x401xT>", "tensor<T>", {"f32", "i64"});
  reduce("sum", "0, 2", "tensor<300x2x401xT>", "tensor<2xT>", {"f32"});
  EXPECT_EQ(commands, 2u);
}

TEST_F(LoopsReductions, Argmax) {
  for (const std::string &type : numbers)
    for (const std::string &index : Strings{"i32", "i64"}) {
      auto argmax = [&](const std::string &dim, const std::string &from, const std::string &to) {
        std::string i = with(to, index), t = with(from, type);
        check("func.func @f(%a: " + t + ") -> " + i + " {\n  %r = reprise.argmax %a dim " + dim +
              " : (" + t + ") -> " + i + "\n  return %r : " + i + "\n}");
      };
      argmax("1", "tensor<20x45xT>", "tensor<20xT>");
      argmax("0", "tensor<20x45xT>", "tensor<45xT>");
      argmax("0", "tensor<150x7xT>", "tensor<7xT>");
      argmax("0", "tensor<1xT>", "tensor<T>");
    }
}

TEST_F(LoopsReductions, Cumsum) {
  for (const std::string &type : numbers)
    for (const std::string &direction : Strings{"", " reverse"}) {
      auto run = [&](const std::string &dim, const std::string &shape) {
        std::string t = with(shape, type);
        check("func.func @f(%a: " + t + ") -> " + t + " {\n  %r = reprise.cumsum %a dim " + dim +
              direction + " : " + t + "\n  return %r : " + t + "\n}");
        EXPECT_EQ(commands, 1u);
      };
      run("1", "tensor<21x45xT>");
      run("0", "tensor<21x45xT>");
      run("1", "tensor<3x5x7xT>");
      run("0", "tensor<1000xT>");
      run("0", "tensor<1xT>");
      run("1", "tensor<2x300x1000xT>");
    }
}

TEST_F(LoopsReductions, TopK) {
  for (const std::string &type : numbers)
    for (const std::string &index : Strings{"i32", "i64"}) {
      auto run = [&](const std::string &from, const std::string &to, unsigned results = 3) {
        std::string t = with(from, type), v = with(to, type), i = with(to, index);
        std::string types = results == 1 ? v : results == 2 ? i : v + ", " + i;
        std::string names = results == 1 ? "%v" : results == 2 ? "%i" : "%v, %i";
        check("func.func @f(%a: " + t + ") -> (" + types + ") {\n  %v, %i = reprise.top_k %a : (" +
              t + ") -> (" + v + ", " + i + ")\n  return " + names + " : " + types + "\n}");
        EXPECT_EQ(commands, 1u);
      };
      run("tensor<7x45xT>", "tensor<7x2xT>");
      run("tensor<7x45xT>", "tensor<7x2xT>", 1);
      run("tensor<7x45xT>", "tensor<7x2xT>", 2);
      run("tensor<2x3x1000xT>", "tensor<2x3x8xT>");
      run("tensor<5x16xT>", "tensor<5x16xT>");
      run("tensor<5x17xT>", "tensor<5x17xT>");
      run("tensor<3x1001xT>", "tensor<3x40xT>");
      run("tensor<400x1xT>", "tensor<400x1xT>");
      run("tensor<90xT>", "tensor<1xT>");
    }
}

TEST_F(LoopsReductions, Softmax) {
  for (const std::string &op : Strings{"softmax", "log_softmax"})
    for (const std::string &type : floats)
      for (const std::string &shape :
           Strings{"tensor<20x33xT>", "tensor<2x3x128xT>", "tensor<1xT>"}) {
        std::string t = with(shape, type);
        check("func.func @f(%a: " + t + ") -> " + t + " {\n  %r = reprise." + op + " %a : " + t +
              "\n  return %r : " + t + "\n}");
        EXPECT_EQ(commands, 1u);
      }
  specials = false;
  check("func.func @f(%a: tensor<17x9001xf32>) -> tensor<17x9001xf32> {\n"
        "  %r = reprise.softmax %a : tensor<17x9001xf32>\n  return %r : tensor<17x9001xf32>\n}");
  EXPECT_EQ(commands, 1u);
  check("func.func @f(%a: tensor<2x40000xf32>) -> tensor<2x40000xf32> {\n"
        "  %r = reprise.softmax %a : tensor<2x40000xf32>\n  return %r : tensor<2x40000xf32>\n}");
}

TEST_F(LoopsReductions, CrossEntropy) {
  for (const std::string &type : floats)
    for (const std::string &index : Strings{"i32", "i64"}) {
      std::string types =
          "(tensor<6x4x19x" + type + ">, tensor<6x4x" + index + ">) -> tensor<6x4x" + type + ">";
      check("func.func @f(%a: tensor<6x4x19x" + type + ">, %b: tensor<6x4x" + index +
            ">) -> tensor<6x4x" + type + "> {\n  %r = reprise.cross_entropy %a, %b : " + types +
            "\n  return %r : tensor<6x4x" + type + ">\n}");
      EXPECT_EQ(commands, 1u);
    }
}

TEST_F(LoopsReductions, LayerNorm) {
  for (const std::string &type : floats)
    for (const std::string &size : Strings{"1", "33", "128"}) {
      std::string wide = type == "f64" ? "f64" : "f32";
      std::string x = "tensor<3x4x" + size + "x" + type + ">",
                  w = "tensor<" + size + "x" + type + ">";
      std::string s = "tensor<3x4x" + wide + ">", results = "(" + x + ", " + s + ", " + s + ")";
      check("func.func @f(%x: " + x + ", %w: " + w + ", %b: " + w + ") -> " + results +
            " {\n  %r:3 = " + "reprise.layer_norm %x, %w, %b {epsilon = 1.0e-5 : f64} : (" + x +
            ", " + w + ", " + w + ") -> " + results + "\n  return %r#0, %r#1, %r#2 : " + x + ", " +
            s + ", " + s + "\n}");
      EXPECT_EQ(commands, 1u);
    }
}

struct LoopsRandom : LoopHarness {
  void draw(const std::string &op, const std::string &attributes, const std::string &type,
            const std::string &operand = "") {
    std::string argument = operand.empty() ? "" : ", %x: " + type;
    check("func.func @f(%s: tensor<i64>, %o: tensor<i64>" + argument + ") -> " + type +
          " {\n  %r = reprise." + op + operand + " seed %s offset %o {stream = 77 : i64" +
          attributes + "} : " + type + "\n  return %r : " + type + "\n}");
  }
  /// Checks a window of a global tensor, at an origin that is known at run time only.
  void window(const std::string &op, const std::string &attributes, const std::string &type,
              const std::string &rank) {
    check("func.func @f(%s: tensor<i64>, %o: tensor<i64>, %origin: tensor<" + rank + "xi64>) -> " +
          type + " {\n  %r = reprise." + op + " seed %s offset %o origin %origin : tensor<" + rank +
          "xi64> {stream = 3 : i64" + attributes + "} : " + type + "\n  return %r : " + type +
          "\n}");
  }
};

TEST_F(LoopsRandom, Draws) {
  for (const std::string &shape : Strings{"", "1x", "70x", "3x32x", "5x7x", "4x36x"}) {
    for (const std::string &type : floats) {
      draw("random_uniform", "", "tensor<" + shape + type + ">");
      draw("random_uniform", ", low = -1.5 : f64, high = 0.1 : f64",
           "tensor<" + shape + type + ">");
      draw("random_normal", ", mean = 0.5 : f64, std = 0.02 : f64", "tensor<" + shape + type + ">");
      draw("dropout", ", rate = 0.1 : f64", "tensor<" + shape + type + ">", " %x");
    }
    for (const std::string &type : Strings{"i32", "i64"})
      draw("random_uniform_int", ", low = -5 : i64, high = 1000 : i64",
           "tensor<" + shape + type + ">");
    draw("random_bernoulli", ", probability = 0.3 : f64", "tensor<" + shape + "i1>");
  }
  draw("dropout", ", rate = 1.0 : f64", "tensor<40xf32>", " %x");
  draw("dropout", ", rate = 0.0 : f64", "tensor<40xf32>", " %x");
}

TEST_F(LoopsRandom, Windows) {
  draw("random_uniform", ", global_shape = array<i64: 5, 64>", "tensor<3x32xf32>");
  draw("random_normal", ", global_shape = array<i64: 5, 37>", "tensor<3x33xf32>");
  window("random_uniform", ", global_shape = array<i64: 50, 80>", "tensor<3x33xf32>", "2");
  window("random_normal", ", global_shape = array<i64: 50, 80>", "tensor<3x64xf64>", "2");
  window("random_bernoulli", ", probability = 0.5 : f64, global_shape = array<i64: 100>",
         "tensor<64xi1>", "1");
}

} // namespace
