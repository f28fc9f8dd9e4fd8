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

} // namespace
