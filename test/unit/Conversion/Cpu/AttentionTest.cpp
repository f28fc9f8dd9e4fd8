// reprise: attention as kernels, against the interpreter
#include "NestHarness.h"

using namespace reprise::test;

namespace {

struct Shape {
  int64_t batch, heads, queries, keys, depth;
};

struct Case {
  Shape shape;
  std::string type = "f32", mask = "", draw = "";
  /// A number for all dimensions, or "%g" for an argument.
  std::string origin = "";
  bool dlse = false;
  /// The numbers of the backward's results that are stored.
  std::vector<int> wanted = {0, 1, 2};
  /// Query heads for each key head.
  int64_t group = 1;
  /// Columns of values and results; 0: the columns of queries.
  int64_t valueDepth = 0;
  /// Sizes of a bias, and of a mask, as "bhts" with 1 for some; empty for none.
  std::string bias = "", seen = "";
  /// Pattern of the mask: random, keys before 2/3 of them ("prefix"), or a band along the diagonal
  /// ("band").
  std::string pattern = "random";
};

struct Attention : LoopHarness {
  Attention() { specials = false; }

  static std::string fillCase(std::string text, const Case &c) {
    auto tensor = [&](std::vector<int64_t> sizes, const std::string &type) {
      std::string result = "tensor<";
      for (int64_t size : sizes)
        result += std::to_string(size) + "x";
      return result + type + ">";
    };
    const Shape &s = c.shape;
    std::string origin, constant;
    if (!c.origin.empty())
      origin = " origin %g : tensor<4xi64>";
    if (!c.origin.empty() && c.origin != "%g") {
      constant = "%c = reprise.constant dense<" + c.origin + "> : tensor<4xi64>";
      origin = " origin %c : tensor<4xi64>";
    }
    std::string scoreOperands;
    if (!c.bias.empty())
      scoreOperands += " bias %bias : $B";
    if (!c.seen.empty())
      scoreOperands += c.pattern == "random" ? " mask %random : $M" : " mask %seen : $M";
    text =
        fill(text, "$DRAW", scoreOperands + (c.draw.empty() ? " " : " seed %s offset %o") + origin);
    text = fill(text, "$ATTRIBUTES", "{scale = 0.3 : f64" + c.mask + c.draw + "}");
    text = fill(text, "$CONSTANT", constant + pattern(c));
    text = fill(text, "$DLSE", c.dlse ? "dlse %dlse : $L" : "");
    text = fill(text, "$Q", tensor({s.batch, s.heads, s.queries, s.depth}, c.type));
    text = fill(text, "$K", tensor({s.batch, s.heads / c.group, s.keys, s.depth}, c.type));
    int64_t columns = c.valueDepth ? c.valueDepth : s.depth;
    text = fill(text, "$V", tensor({s.batch, s.heads / c.group, s.keys, columns}, c.type));
    text = fill(text, "$O", tensor({s.batch, s.heads, s.queries, columns}, c.type));
    std::string wide = c.type == "f64" ? c.type : "f32";
    auto sizesOf = [&](const std::string &sizes) {
      auto size = [&](int d, int64_t whole) {
        return sizes.empty() || sizes[d] != '1' ? whole : int64_t(1);
      };
      return std::vector<int64_t>{size(0, s.batch), size(1, s.heads), size(2, s.queries), s.keys};
    };
    text = fill(text, "$B", tensor(sizesOf(c.bias), wide));
    text = fill(text, "$M", tensor(sizesOf(c.seen), "i1"));
    text = fill(text, "$N", tensor(sizesOf(c.seen), "i32"));
    text = fill(text, "$S", tensor(sizesOf(""), wide));
    return fill(text, "$L", tensor({s.batch, s.heads, s.queries}, wide));
  }

  /// %seen, a mask that is not random.
  static std::string pattern(const Case &c) {
    if (c.pattern == "random")
      return "";
    std::string key = "  %j = reprise.iota dim 3 : $N\n  %i = reprise.iota dim 2 : $N\n";
    if (c.pattern == "prefix")
      return key + "  %end = reprise.constant dense<" + std::to_string(c.shape.keys * 2 / 3) +
             "> : $N\n  %seen = reprise.compare lt %j, %end : $N\n";
    return key + "  %distance = reprise.sub %j, %i : $N\n  %far = reprise.abs %distance : $N\n"
                 "  %end = reprise.constant dense<9> : $N\n"
                 "  %seen = reprise.compare lt %far, %end : $N\n";
  }

  static int64_t scores(const Shape &s) { return s.batch * s.heads * s.queries * s.keys; }

  void forward(const Case &c) {
    withGpu = scores(c.shape) < 100000;
    check(fillCase(R"(
func.func @f(%q: $Q, %k: $K, %v: $V, %s: tensor<i64>, %o: tensor<i64>, %g: tensor<4xi64>, %bias: $B, %random: $M)
    -> ($O, $L) {
  $CONSTANT
  %0:2 = reprise.attention %q, %k, %v $DRAW $ATTRIBUTES : ($Q, $K, $V) -> ($O, $L)
  return %0#0, %0#1 : $O, $L
})",
                   c));
  }

  void backward(const Case &c) {
    std::string values, types;
    for (int result : c.wanted) {
      values += (values.empty() ? "%0#" : ", %0#") + std::to_string(result);
      types +=
          (types.empty() ? "" : ", ") + std::vector<std::string>{"$Q", "$K", "$V", "$S"}[result];
    }
    bool hasScores = llvm::is_contained(c.wanted, 3);
    withGpu = scores(c.shape) < 100000;
    check(fillCase(
        R"(
func.func @f(%q: $Q, %k: $K, %v: $V, %out: $O, %lse: $L, %dout: $O, %dlse: $L, %s: tensor<i64>, %o: tensor<i64>,
             %g: tensor<4xi64>, %bias: $B, %random: $M) -> ()" +
            types + R"() {
  $CONSTANT
  %0:)" + (hasScores ? "4" : "3") +
            R"( = reprise.attention_backward %q, %k, %v, %out, %lse, %dout $DLSE $DRAW $ATTRIBUTES
      : ($Q, $K, $V, $O, $L, $O) -> ($Q, $K, $V)" +
            (hasScores ? ", $S" : "") + R"()
  return )" +
            values + " : " + types + "\n}",
        c));
  }
};

const std::vector<Shape> shapes = {{1, 1, 1, 1, 1},    {1, 2, 7, 7, 5},      {2, 3, 50, 50, 20},
                                   {1, 1, 48, 64, 64}, {1, 1, 131, 150, 33}, {2, 1, 9, 37, 16},
                                   {1, 1, 1, 70, 40}};
const char *const masks[] = {"", ", causal"};
const char *const draws[] = {"", ", rate = 0.1 : f64, stream = 3 : i64"};

TEST_F(Attention, ForwardOfAnyShape) {
  for (const Shape &shape : shapes)
    for (int mask : {0, 1})
      forward({shape, "f32", masks[mask], draws[(mask + shape.depth) % 2]});
}

TEST_F(Attention, ForwardOfOtherTypes) {
  for (const char *type : {"f64", "bf16", "f16"}) {
    forward({{1, 2, 27, 27, 20}, type, masks[1], draws[1]});
    forward({{2, 1, 50, 75, 17}, type, masks[0], draws[0]});
  }
  forward({{2, 1, 50, 75, 17}, "f64", masks[0], draws[1]});
}

TEST_F(Attention, ForwardOfSeveralChains) {
  forward({{1, 1, 7, 4099, 5}, "f32", ""});
  forward({{1, 1, 7, 4099, 5}, "f32", ", causal", ", rate = 0.5 : f64, stream = 3 : i64"});
  forward({{1, 1, 3, 12300, 3}, "f32", ", causal"});
}

TEST_F(Attention, ForwardOfSpecialValues) {
  specials = true;
  for (const char *mask : masks)
    for (const char *draw : draws)
      forward({{1, 2, 33, 40, 3}, "f32", mask, draw});
}

TEST_F(Attention, SlowBackwardOfAnyShape) {
  for (const Shape &shape : shapes)
    for (int mask : {0, 1})
      backward(
          {shape, "f32", masks[mask], draws[(mask + shape.depth) % 2], "", shape.keys % 2 == 1});
}

TEST_F(Attention, BackwardOfOtherTypes) {
  for (const char *type : {"f64", "bf16", "f16"}) {
    backward({{1, 2, 27, 27, 20}, type, masks[1], draws[1]});
    backward({{2, 1, 50, 75, 17}, type, masks[0], draws[0], "", true});
  }
  backward({{2, 1, 50, 75, 17}, "f64", masks[0], draws[1], "", true});
}

TEST_F(Attention, SlowBackwardOfSeveralChains) {
  backward({{1, 1, 7, 4099, 5}, "f32", ""});
  backward({{1, 1, 7, 4099, 5}, "f32", ", causal", ", rate = 0.5 : f64, stream = 3 : i64"});
  backward({{1, 1, 4100, 9, 3}, "f32", ""});
  backward({{1, 1, 4105, 4110, 2}, "f32", ", causal"});
}

TEST_F(Attention, BackwardOfSpecialValues) {
  specials = true;
  for (const char *mask : masks)
    for (const char *draw : draws)
      backward({{1, 2, 33, 40, 3}, "f32", mask, draw, "", true});
}

TEST_F(Attention, NothingToAttendTo) {
  for (const Shape &shape : {Shape{0, 2, 5, 5, 4}, Shape{1, 0, 5, 5, 4}, Shape{1, 2, 0, 5, 4}}) {
    forward({shape, "f32", ", causal"});
    backward({shape, "f32", ", causal"});
    backward({shape, "f32"});
  }
}

/// Returns a case with a bias and a mask; `number` counts the shapes that the ops allow.
Case withScores(Shape shape, const char *type, int number) {
  const char *const sizes[] = {"", "bhts", "11ts", "b11s", "1h1s"};
  const char *const patterns[] = {"random", "prefix", "band"};
  Case c{shape, type, masks[number % 2], draws[number / 2 % 2]};
  c.bias = sizes[number % 5];
  c.seen = sizes[(number / 5 + number) % 5];
  c.pattern = patterns[number % 3];
  c.dlse = number % 3 == 1;
  if (!c.bias.empty())
    c.wanted.push_back(3);
  return c;
}

TEST_F(Attention, SlowGroupsOfHeads) {
  for (const Shape &shape : {Shape{2, 6, 50, 50, 20}, Shape{1, 4, 9, 37, 16}, Shape{1, 2, 1, 7, 4}})
    for (int number : {0, 1, 2, 3}) {
      Case c{shape, "f32", masks[number % 2], draws[number / 2]};
      c.group = number == 3 || shape.heads == 2 ? 2 : shape.heads / 2;
      forward(c);
      backward(c);
    }
  Case narrow{{1, 4, 21, 21, 8}, "bf16", masks[1], draws[1]};
  narrow.group = 4;
  forward(narrow);
  backward(narrow);
}

TEST_F(Attention, SlowBiasAndMask) {
  for (const Shape &shape : {Shape{2, 3, 50, 53, 12}, Shape{1, 2, 7, 7, 5}, Shape{2, 1, 9, 37, 16}})
    for (int number = 0; number < 25; number += shape.queries == 50 ? 3 : 7) {
      forward(withScores(shape, "f32", number));
      backward(withScores(shape, "f32", number));
    }
}

TEST_F(Attention, SlowBiasAndMaskOfOtherTypes) {
  for (const char *type : {"f64", "bf16", "f16"})
    for (int number : {1, 8, 12, 19}) {
      Case c = withScores({1, 4, 27, 30, 9}, type, number);
      c.group = 2;
      forward(c);
      backward(c);
    }
}

// A value, and so a result, may be wider or narrower than a key; each gradient has its operand's
// width.
TEST_F(Attention, SlowValuesOfAnotherWidth) {
  int number = 0;
  for (const Shape &shape : {Shape{1, 2, 7, 7, 5}, Shape{2, 2, 50, 53, 20}, Shape{1, 2, 9, 37, 33}})
    for (int64_t columns : {1, 17, 40}) {
      Case c = withScores(shape, "f32", number++);
      c.valueDepth = columns;
      c.group = number % 2 + 1;
      forward(c);
      backward(c);
    }
  for (const char *type : {"f64", "bf16", "f16"})
    for (int64_t columns : {3, 24}) {
      Case c = withScores({1, 4, 27, 30, 9}, type, number++);
      c.valueDepth = columns;
      c.group = 2;
      forward(c);
      backward(c);
    }
  Case chains{{1, 1, 7, 4099, 5}, "f32", masks[1], draws[1]};
  chains.valueDepth = 2;
  forward(chains);
  backward(chains);
}

// Chains of 4,096 terms end within a head's queries, and within a strip of them.
TEST_F(Attention, SlowGroupsOfSeveralChains) {
  for (int number : {0, 1, 2, 3}) {
    Case c{{1, 3, 1500, 1503, 2}, "f32", masks[number % 2]};
    c.group = 3;
    c.seen = number >= 2 ? "111s" : "";
    backward(c);
  }
  Case keys = withScores({1, 2, 7, 4099, 3}, "f32", 7);
  for (const char *pattern : {"random", "prefix", "band"}) {
    keys.pattern = pattern;
    forward(keys);
    backward(keys);
  }
}

// The values of masked keys must not change any result.
TEST_F(Attention, SlowMaskedSpecialValues) {
  specials = true;
  for (int number = 0; number < 25; number += 2) {
    forward(withScores({1, 2, 33, 40, 3}, "f32", number));
    backward(withScores({1, 2, 33, 40, 3}, "f32", number));
  }
}

TEST_F(Attention, VeryLongHeadsAreAnError) {
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    EXPECT_EQ(diagnostic.str(), "kernels of attention take heads of at most 4096 elements");
  });
  for (auto [depth, valueDepth] : {std::pair(4097, 3), {3, 4097}}) {
    Case c{{1, 1, 2, 2, depth}, "f32"};
    c.valueDepth = valueDepth;
    auto module = parse(fillCase("func.func @f(%q: $Q, %v: $V) -> ($O, $L) {\n  %0:2 = "
                                 "reprise.attention %q, %q, %v $ATTRIBUTES : ($Q, $Q, $V) -> ($O, "
                                 "$L)\n  return %0#0, %0#1 : $O, $L\n}",
                                 c));
    auto kernels = mlir::OwningOpRef<mlir::ModuleOp>(mlir::ModuleOp::create(module->getLoc()));
    mlir::Block &body = module->lookupSymbol<mlir::func::FuncOp>("f").getBody().front();
    EXPECT_TRUE(failed(reprise::emitLaunch(body, "group", *kernels, targets.front())));
  }
}

TEST_F(Attention, BackwardStoresWhatIsWanted) {
  for (std::vector<int> wanted :
       std::vector<std::vector<int>>{{0}, {1}, {2}, {2, 0}, {1, 0}, {2, 1}})
    for (int64_t valueDepth : {12, 19}) {
      Case c{{2, 1, 21, 30, 12}, "f32", ", causal", "", "", false, wanted};
      c.valueDepth = valueDepth;
      backward(c);
    }
}

// Operands are strided views: heads side by side, or all operands in one buffer.
TEST_F(Attention, OperandsAreStridedViews) {
  check(R"(
func.func @f(%x: tensor<2x19x3x3x20xf32>, %s: tensor<i64>, %o: tensor<i64>)
    -> (tensor<2x3x19x20xf32>, tensor<2x3x19xf32>) {
  %q0 = reprise.slice %x from [0, 0, 0, 0, 0] to [2, 19, 1, 3, 20] by [1, 1, 1, 1, 1] : (tensor<2x19x3x3x20xf32>) -> tensor<2x19x1x3x20xf32>
  %k0 = reprise.slice %x from [0, 0, 1, 0, 0] to [2, 19, 2, 3, 20] by [1, 1, 1, 1, 1] : (tensor<2x19x3x3x20xf32>) -> tensor<2x19x1x3x20xf32>
  %v0 = reprise.slice %x from [0, 0, 2, 0, 0] to [2, 19, 3, 3, 20] by [1, 1, 1, 1, 1] : (tensor<2x19x3x3x20xf32>) -> tensor<2x19x1x3x20xf32>
  %q1 = reprise.reshape %q0 : (tensor<2x19x1x3x20xf32>) -> tensor<2x19x3x20xf32>
  %k1 = reprise.reshape %k0 : (tensor<2x19x1x3x20xf32>) -> tensor<2x19x3x20xf32>
  %v1 = reprise.reshape %v0 : (tensor<2x19x1x3x20xf32>) -> tensor<2x19x3x20xf32>
  %q = reprise.transpose %q1 [0, 2, 1, 3] : (tensor<2x19x3x20xf32>) -> tensor<2x3x19x20xf32>
  %k = reprise.transpose %k1 [0, 2, 1, 3] : (tensor<2x19x3x20xf32>) -> tensor<2x3x19x20xf32>
  %v = reprise.transpose %v1 [0, 2, 1, 3] : (tensor<2x19x3x20xf32>) -> tensor<2x3x19x20xf32>
  %0:2 = reprise.attention %q, %k, %v seed %s offset %o {scale = 0.25 : f64, causal, rate = 0.1 : f64, stream = 5 : i64}
      : (tensor<2x3x19x20xf32>, tensor<2x3x19x20xf32>, tensor<2x3x19x20xf32>)
      -> (tensor<2x3x19x20xf32>, tensor<2x3x19xf32>)
  return %0#0, %0#1 : tensor<2x3x19x20xf32>, tensor<2x3x19xf32>
})");
}

TEST_F(Attention, GradientsOfStridedViews) {
  for (const char *type : {"f32", "bf16"})
    check(fill(R"(
func.func @f(%q0: tensor<1x21x2x18x$T>, %k0: tensor<1x2x18x30x$T>, %v0: tensor<18x30x$T>, %out0: tensor<1x21x2x18x$T>,
             %lse0: tensor<1x21x2xf32>, %dout0: tensor<21x18x2x$T>, %dlse0: tensor<21xf32>)
    -> (tensor<1x2x21x18x$T>, tensor<1x2x30x18x$T>, tensor<1x2x30x18x$T>) {
  %q = reprise.transpose %q0 [0, 2, 1, 3] : (tensor<1x21x2x18x$T>) -> tensor<1x2x21x18x$T>
  %k = reprise.transpose %k0 [0, 1, 3, 2] : (tensor<1x2x18x30x$T>) -> tensor<1x2x30x18x$T>
  %v1 = reprise.transpose %v0 [1, 0] : (tensor<18x30x$T>) -> tensor<30x18x$T>
  %v = reprise.broadcast %v1 dims [2, 3] : (tensor<30x18x$T>) -> tensor<1x2x30x18x$T>
  %out = reprise.transpose %out0 [0, 2, 1, 3] : (tensor<1x21x2x18x$T>) -> tensor<1x2x21x18x$T>
  %lse = reprise.transpose %lse0 [0, 2, 1] : (tensor<1x21x2xf32>) -> tensor<1x2x21xf32>
  %dout1 = reprise.transpose %dout0 [2, 0, 1] : (tensor<21x18x2x$T>) -> tensor<2x21x18x$T>
  %dout = reprise.reshape %dout1 : (tensor<2x21x18x$T>) -> tensor<1x2x21x18x$T>
  %dlse = reprise.broadcast %dlse0 dims [2] : (tensor<21xf32>) -> tensor<1x2x21xf32>
  %0:3 = reprise.attention_backward %q, %k, %v, %out, %lse, %dout dlse %dlse : tensor<1x2x21xf32>
      {scale = 0.25 : f64, causal}
      : (tensor<1x2x21x18x$T>, tensor<1x2x30x18x$T>, tensor<1x2x30x18x$T>, tensor<1x2x21x18x$T>, tensor<1x2x21xf32>,
         tensor<1x2x21x18x$T>) -> (tensor<1x2x21x18x$T>, tensor<1x2x30x18x$T>, tensor<1x2x30x18x$T>)
  return %0#0, %0#1, %0#2 : tensor<1x2x21x18x$T>, tensor<1x2x30x18x$T>, tensor<1x2x30x18x$T>
})",
               "$T", type));
}

// A reshape across strides and a constant are no views of arguments.
TEST_F(Attention, OtherOperandsAreCopied) {
  check(R"(
func.func @f(%q0: tensor<12x2x25xf32>, %k: tensor<1x2x25x12xf32>, %s: tensor<i64>, %o: tensor<i64>)
    -> (tensor<1x2x25xf32>, tensor<1x2x25x12xf32>) {
  %q1 = reprise.transpose %q0 [1, 2, 0] : (tensor<12x2x25xf32>) -> tensor<2x25x12xf32>
  %q2 = reprise.reshape %q1 : (tensor<2x25x12xf32>) -> tensor<600xf32>
  %q = reprise.reshape %q2 : (tensor<600xf32>) -> tensor<1x2x25x12xf32>
  %v = reprise.constant dense<1.5> : tensor<1x2x25x12xf32>
  %origin = reprise.constant dense<3> : tensor<4xi64>
  %0:2 = reprise.attention %q, %k, %v seed %s offset %o origin %origin : tensor<4xi64>
      {scale = 0.25 : f64, rate = 0.2 : f64, stream = 5 : i64, global_shape = array<i64: 9, 9, 64, 40>}
      : (tensor<1x2x25x12xf32>, tensor<1x2x25x12xf32>, tensor<1x2x25x12xf32>)
      -> (tensor<1x2x25x12xf32>, tensor<1x2x25xf32>)
  return %0#1, %0#0 : tensor<1x2x25xf32>, tensor<1x2x25x12xf32>
})");
}

// Four neighbouring keys draw from one block only if their rows begin with a block.
TEST_F(Attention, OriginMoves) {
  for (const char *origin : {"%g", "8", "3"})
    for (const char *keys : {"64", "63"}) {
      std::string draw =
          ", rate = 0.2 : f64, stream = 5 : i64, global_shape = array<i64: 30, 31, 60, ";
      draw += std::string(keys) + ">";
      forward({{2, 2, 25, 30, 12}, "f32", "", draw, origin});
      backward({{2, 2, 25, 30, 12}, "f32", ", causal", draw, origin});
    }
}

} // namespace
