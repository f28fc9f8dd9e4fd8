// reprise: attention as kernels, against the interpreter
#include "LoopHarness.h"

using namespace reprise::test;

namespace {

struct Shape {
  int64_t batch, heads, queries, keys, depth;
};

struct Attention : LoopHarness {
  Attention() { specials = false; }

  static std::string text(std::initializer_list<int64_t> sizes, const std::string &type) {
    std::string result = "tensor<";
    for (int64_t size : sizes)
      result += std::to_string(size) + "x";
    return result + type + ">";
  }
  static std::string statistics(const std::string &type) { return type == "f64" ? type : "f32"; }

  /// `attributes` are those besides the scale; with dropout seed %s and offset %o.
  static std::string forward(Shape s, const std::string &type, const std::string &attributes) {
    std::string q = text({s.batch, s.heads, s.queries, s.depth}, type);
    std::string k = text({s.batch, s.heads, s.keys, s.depth}, type);
    std::string l = text({s.batch, s.heads, s.queries}, statistics(type));
    bool draws = attributes.find("rate") != std::string::npos;
    return "func.func @f(%q: " + q + ", %k: " + k + ", %v: " + k +
           ", %s: tensor<i64>, %o: tensor<i64>) -> (" + q + ", " + l +
           ") {\n  %0:2 = reprise.attention %q, %k, %v " + (draws ? "seed %s offset %o " : "") +
           "{scale = 0.3 : f64" + attributes + "} : (" + q + ", " + k + ", " + k + ") -> (" + q +
           ", " + l + ")\n  return %0#0, %0#1 : " + q + ", " + l + "\n}";
  }

  /// The backward; `wanted` are the numbers of its results that are stored.
  static std::string backward(Shape s, const std::string &type, const std::string &attributes,
                              bool dlse = false, std::vector<int> wanted = {0, 1, 2}) {
    std::string q = text({s.batch, s.heads, s.queries, s.depth}, type);
    std::string k = text({s.batch, s.heads, s.keys, s.depth}, type);
    std::string l = text({s.batch, s.heads, s.queries}, statistics(type));
    bool draws = attributes.find("rate") != std::string::npos;
    std::string values, types;
    for (int result : wanted) {
      values += (values.empty() ? "%0#" : ", %0#") + std::to_string(result);
      types += (types.empty() ? "" : ", ") + (result ? k : q);
    }
    return "func.func @f(%q: " + q + ", %k: " + k + ", %v: " + k + ", %out: " + q + ", %lse: " + l +
           ", %dout: " + q + ", %dlse: " + l + ", %s: tensor<i64>, %o: tensor<i64>) -> (" + types +
           ") {\n  %0:3 = reprise.attention_backward %q, %k, %v, %out, %lse, %dout " +
           (dlse ? "dlse %dlse : " + l + " " : "") + (draws ? "seed %s offset %o " : "") +
           "{scale = 0.3 : f64" + attributes + "} : (" + q + ", " + k + ", " + k + ", " + q + ", " +
           l + ", " + q + ") -> (" + q + ", " + k + ", " + k + ")\n  return " + values + " : " +
           types + "\n}";
  }
};

const std::vector<Shape> shapes = {{1, 1, 1, 1, 1},    {1, 2, 7, 7, 5},      {2, 3, 50, 50, 20},
                                   {1, 1, 48, 64, 64}, {1, 1, 131, 150, 33}, {2, 1, 9, 37, 16},
                                   {1, 1, 1, 70, 40}};
const char *const masks[] = {"", ", causal"};
const char *const draws[] = {"", ", rate = 0.1 : f64, stream = 3 : i64"};

TEST_F(Attention, ForwardOfAnyShape) {
  for (Shape shape : shapes)
    for (const char *mask : masks)
      for (const char *draw : draws)
        check(forward(shape, "f32", std::string(mask) + draw));
}

TEST_F(Attention, ForwardOfOtherTypes) {
  for (const char *type : {"f64", "bf16", "f16"})
    for (const char *mask : masks)
      for (const char *draw : draws) {
        check(forward({1, 2, 27, 27, 20}, type, std::string(mask) + draw));
        check(forward({2, 1, 50, 75, 17}, type, std::string(mask) + draw));
      }
}

TEST_F(Attention, ForwardOfSeveralChains) {
  check(forward({1, 1, 7, 4099, 5}, "f32", ""));
  check(forward({1, 1, 7, 4099, 5}, "f32", ", causal, rate = 0.5 : f64, stream = 3 : i64"));
  check(forward({1, 1, 3, 12300, 3}, "f32", ", causal"));
}

TEST_F(Attention, ForwardOfSpecialValues) {
  specials = true;
  for (const char *mask : masks)
    for (const char *draw : draws)
      check(forward({1, 2, 33, 40, 3}, "f32", std::string(mask) + draw));
}

TEST_F(Attention, BackwardOfAnyShape) {
  for (Shape shape : shapes)
    for (const char *mask : masks)
      for (const char *draw : draws)
        check(backward(shape, "f32", std::string(mask) + draw, shape.keys % 2));
}

TEST_F(Attention, BackwardOfOtherTypes) {
  for (const char *type : {"f64", "bf16", "f16"})
    for (const char *mask : masks)
      for (const char *draw : draws) {
        check(backward({1, 2, 27, 27, 20}, type, std::string(mask) + draw));
        check(backward({2, 1, 50, 75, 17}, type, std::string(mask) + draw, true));
      }
}

TEST_F(Attention, BackwardOfSeveralChains) {
  check(backward({1, 1, 7, 4099, 5}, "f32", ""));
  check(backward({1, 1, 7, 4099, 5}, "f32", ", causal, rate = 0.5 : f64, stream = 3 : i64"));
  check(backward({1, 1, 4100, 9, 3}, "f32", ""));
  check(backward({1, 1, 4105, 4110, 2}, "f32", ", causal"));
}

TEST_F(Attention, BackwardOfSpecialValues) {
  specials = true;
  for (const char *mask : masks)
    for (const char *draw : draws)
      check(backward({1, 2, 33, 40, 3}, "f32", std::string(mask) + draw, true));
}

TEST_F(Attention, BackwardStoresWhatIsWanted) {
  for (std::vector<int> wanted :
       std::vector<std::vector<int>>{{0}, {1}, {2}, {2, 0}, {1, 0}, {2, 1}})
    check(backward({2, 1, 21, 30, 12}, "f32", ", causal", false, wanted));
}

} // namespace
