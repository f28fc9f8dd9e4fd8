// reprise: small programs around each differentiable op, for the test of its derivatives.
#include "DerivativeCases.h"

namespace reprise::test {

using Cases = std::vector<DerivativeCase>;

static const std::string vector = "tensor<6x$t>", matrix = "tensor<2x3x$t>", scalar = "tensor<$t>";

static void addElementwise(Cases &cases) {
  auto unary = [&](std::string op, double low, double high, std::string attributes = "",
                   std::string suffix = "") {
    cases.push_back({op,
                     op + suffix,
                     {{"6x", low, high}},
                     "%r0 = reprise." + op + " %x0 " + attributes + ": " + vector,
                     {{"6x"}}});
  };
  auto binary = [&](std::string op, double low, double high) {
    cases.push_back({op,
                     op,
                     {{"6x", -2, 2}, {"6x", low, high}},
                     "%r0 = reprise." + op + " %x0, %x1 : " + vector,
                     {{"6x"}}});
  };
  for (std::string op :
       {"neg", "abs", "exp", "tanh", "erf", "sigmoid", "silu", "relu", "sin", "cos"})
    unary(op, -2, 2);
  for (std::string op : {"log", "sqrt", "rsqrt"})
    unary(op, 0.5, 3);
  unary("gelu", -2, 2);
  unary("gelu", -2, 2, "{form = #reprise<gelu_form tanh>} ", "Tanh");
  for (std::string op : {"add", "sub", "mul", "maximum", "minimum"})
    binary(op, -2, 2);
  binary("div", 0.5, 2);
  unary("clamp", -2, 2, "in [-0.5 : f64, 0.75 : f64] ");
  cases.push_back({"pow",
                   "pow",
                   {{"6x", 0.25, 2}, {"6x", -2, 3}},
                   "%r0 = reprise.pow %x0, %x1 : " + vector,
                   {{"6x"}}});
  // With a whole exponent, negative bases and 0 have a derivative.
  cases.push_back({"pow",
                   "powWhole",
                   {{"6x", -2, 2}},
                   "%y = reprise.constant dense<[3.0, 2.0, 1.0, 0.0, 4.0, 5.0]> : " + vector +
                       "\n%r0 = reprise.pow %x0, %y : " + vector,
                   {{"6x"}}});
  cases.push_back({"select",
                   "select",
                   {{"4x"}, {"4x"}},
                   "%c = reprise.constant dense<[true, false, false, true]> : tensor<4xi1>\n"
                   "%r0 = reprise.select %c, %x0, %x1 : tensor<4xi1>, tensor<4x$t>",
                   {{"4x"}}});
  cases.push_back({"cast",
                   "cast",
                   {{"4x"}},
                   "%r0 = reprise.cast %x0 : tensor<4x$t> to tensor<4xf64>",
                   {{"4x", 0, 0, "f64"}}});
  const char *pause = "%r0 = reprise.pause () then (%x0) : (tensor<4x$t>) -> tensor<4x$t>";
  cases.push_back({"pause", "pause", {{"4x"}}, pause, {{"4x"}}});
  // The cases use one operand twice, or both operands of an op.
  cases.push_back({"mul",
                   "mulTwice",
                   {{"4x"}},
                   "%a = reprise.mul %x0, %x0 : tensor<4x$t>\n"
                   "%r0 = reprise.mul %a, %x0 : tensor<4x$t>",
                   {{"4x"}}});
}

static void addShape(Cases &cases) {
  auto add = [&](std::string op, std::string name, std::vector<CaseValue> operands,
                 std::string body,
                 std::string shape) { cases.push_back({op, name, operands, body, {{shape}}}); };
  auto move = [&](std::string op, std::string name, std::string from, std::string how,
                  std::string to) {
    add(op, name, {{from}},
        "%r0 = reprise." + op + " %x0 " + how + " : (tensor<" + from + "$t>) -> tensor<" + to +
            "$t>",
        to);
  };
  move("broadcast", "broadcast", "3x", "dims [1]", "2x3x2x");
  move("broadcast", "broadcastScalar", "", "dims []", "2x3x");
  move("reshape", "reshape", "2x3x", "", "3x1x2x");
  move("transpose", "transpose", "2x3x4x", "[1, 2, 0]", "3x4x2x");
  move("slice", "slice", "4x7x", "from [1, 1] to [3, 6] by [1, 3]", "2x2x");
  move("slice", "sliceNothing", "4x7x", "from [1, 1] to [1, 6] by [1, 2]", "0x3x");
  move("pad", "pad", "2x3x", "with 2.0 : $t low [1, 0] high [0, 2] interior [2, 1]", "5x7x");
  move("pad", "padNothing", "0x3x", "with 2.0 : $t low [1, 1] high [1, 0] interior [2, 1]", "2x6x");
  add("concatenate", "concatenate", {{"2x3x"}, {"2x1x"}, {"2x2x"}},
      "%r0 = reprise.concatenate %x0, %x1, %x2 dim 1 : (tensor<2x3x$t>, tensor<2x1x$t>, "
      "tensor<2x2x$t>) -> tensor<2x6x$t>",
      "2x6x");
  add("concatenate", "concatenateTwice", {{"2x2x"}},
      "%r0 = reprise.concatenate %x0, %x0 dim 0 : (tensor<2x2x$t>, tensor<2x2x$t>) -> "
      "tensor<4x2x$t>",
      "4x2x");
}

static void addIndexing(Cases &cases) {
  auto add = [&](std::string op, std::string name, std::vector<CaseValue> operands,
                 std::string body,
                 std::string shape) { cases.push_back({op, name, operands, body, {{shape}}}); };
  // Indices repeat and are clamped.
  std::string indices = "%i = reprise.constant dense<[[2, 0], [2, 9]]> : tensor<2x2xi32>\n";
  add("gather", "gather", {{"4x3x"}},
      indices +
          "%r0 = reprise.gather %x0[%i] : (tensor<4x3x$t>, tensor<2x2xi32>) -> tensor<2x2x3x$t>",
      "2x2x3x");
  add("scatter_add", "scatterAdd", {{"2x2x3x"}},
      indices + "%r0 = reprise.scatter_add %x0 at %i : (tensor<2x2xi32>, tensor<2x2x3x$t>) -> "
                "tensor<4x3x$t>",
      "4x3x");
  add("scatter", "scatter", {{"4x3x"}, {"2x2x3x"}},
      indices + "%r0 = reprise.scatter %x1 into %x0 at %i : (tensor<4x3x$t>, tensor<2x2xi32>, "
                "tensor<2x2x3x$t>) -> tensor<4x3x$t>",
      "4x3x");
  add("take_along", "takeAlong", {{"2x3x"}},
      indices +
          "%r0 = reprise.take_along %x0[%i] : (tensor<2x3x$t>, tensor<2x2xi32>) -> tensor<2x2x$t>",
      "2x2x");
  add("scatter_add_along", "scatterAddAlong", {{"2x2x"}},
      indices + "%r0 = reprise.scatter_add_along %x0 at %i : (tensor<2x2xi32>, tensor<2x2x$t>) -> "
                "tensor<2x3x$t>",
      "2x3x");
  std::string starts = "%s = reprise.constant dense<[1, 7]> : tensor<2xi64>\n";
  add("dynamic_slice", "dynamicSlice", {{"4x5x"}},
      starts + "%r0 = reprise.dynamic_slice %x0 at %s : (tensor<4x5x$t>, tensor<2xi64>) -> "
               "tensor<2x3x$t>",
      "2x3x");
  add("dynamic_update", "dynamicUpdate", {{"4x5x"}, {"2x3x"}},
      starts + "%r0 = reprise.dynamic_update %x1 into %x0 at %s : (tensor<4x5x$t>, tensor<2x3x$t>, "
               "tensor<2xi64>) -> tensor<4x5x$t>",
      "4x5x");
}

static void addReductions(Cases &cases) {
  for (std::string op : {"sum", "mean", "max", "min", "prod", "logsumexp"}) {
    auto reduce = [&](std::string name, std::string dims, std::string to) {
      cases.push_back({op,
                       op + name,
                       {{"2x3x4x"}},
                       "%r0 = reprise." + op + " %x0 dims " + dims +
                           " : (tensor<2x3x4x$t>) -> tensor<" + to + "$t>",
                       {{to}}});
    };
    reduce("Last", "[2]", "2x3x");
    reduce("Middle", "[1]", "2x4x");
    reduce("Two", "[0, 2]", "3x");
    reduce("All", "[0, 1, 2]", "");
  }
  auto zeros = [&](std::string name, std::string values) {
    // In places where %m is 0, the factor is %x1 alone, which is 0.
    cases.push_back({"prod",
                     name,
                     {{"2x3x"}, {"2x3x", 0, 0}},
                     "%m = reprise.constant dense<" + values + "> : " + matrix +
                         "\n%y = reprise.mul %x0, %m : " + matrix +
                         "\n%z = reprise.add %y, %x1 : " + matrix +
                         "\n%r0 = reprise.prod %z dims [1] : (" + matrix + ") -> tensor<2x$t>",
                     {{"2x"}}});
  };
  zeros("prodZero", "[[1.0, 0.0, 1.0], [2.0, 1.0, 0.0]]");
  zeros("prodZeros", "[[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]");
  for (std::string reverse : {"", "Reverse"})
    cases.push_back({"cumsum",
                     "cumsum" + reverse,
                     {{"2x3x4x"}},
                     "%r0 = reprise.cumsum %x0 dim 1" +
                         std::string(reverse.empty() ? "" : " reverse") + " : tensor<2x3x4x$t>",
                     {{"2x3x4x"}}});
  cases.push_back({"top_k",
                   "topK",
                   {{"2x5x"}},
                   "%r0, %i = reprise.top_k %x0 : (tensor<2x5x$t>) -> (tensor<2x3x$t>, "
                   "tensor<2x3xi32>)",
                   {{"2x3x"}}});
  auto dot = [&](std::string name, std::string l, std::string r, std::string dims, std::string to) {
    cases.push_back({"dot_general",
                     name,
                     {{l}, {r}},
                     "%r0 = reprise.dot_general %x0, %x1 " + dims + " : (tensor<" + l +
                         "$t>, tensor<" + r + "$t>) -> tensor<" + to + "$t>",
                     {{to}}});
  };
  dot("dotMatrix", "2x3x", "3x4x", "contracting [1] x [0]", "2x4x");
  dot("dotInner", "3x", "3x", "contracting [0] x [0]", "");
  dot("dotOuter", "2x", "3x", "contracting [] x []", "2x3x");
  dot("dotTransposed", "3x2x", "4x3x", "contracting [0] x [1]", "2x4x");
  dot("dotBatch", "2x3x4x", "2x5x4x", "batch [0] x [0] contracting [2] x [2]", "2x3x5x");
  dot("dotTwoContracted", "2x3x4x", "4x5x2x", "contracting [0, 2] x [2, 0]", "3x5x");
  // Batch dimensions in the middle and in another order: the gradients need a transpose.
  dot("dotShuffled", "3x2x4x2x", "2x4x5x3x", "batch [3, 0] x [0, 3] contracting [2] x [1]",
      "2x3x2x5x");
}

static void addRows(Cases &cases) {
  for (std::string op : {"softmax", "log_softmax"})
    cases.push_back({op,
                     op == "softmax" ? op : "logSoftmax",
                     {{"2x3x", -2, 2}},
                     "%r0 = reprise." + op + " %x0 : " + matrix,
                     {{"2x3x"}}});
  cases.push_back(
      {"cross_entropy",
       "crossEntropy",
       {{"4x3x", -2, 2}},
       "%i = reprise.constant dense<[2, 0, -1, 7]> : tensor<4xi64>\n"
       "%r0 = reprise.cross_entropy %x0, %i : (tensor<4x3x$t>, tensor<4xi64>) -> tensor<4x$t>",
       {{"4x"}}});
  std::string types = "{epsilon = 0.125 : f64} : (tensor<2x4x$t>, tensor<4x$t>, tensor<4x$t>) -> "
                      "(tensor<2x4x$t>, tensor<2x$c>, tensor<2x$c>)";
  std::vector<CaseValue> operands{{"2x4x", -2, 2}, {"4x", 0.5, 2}, {"4x"}};
  CaseValue row{"2x", 0, 0, "$c"};
  cases.push_back({"layer_norm",
                   "layerNorm",
                   operands,
                   "%r0, %m, %s = reprise.layer_norm %x0, %x1, %x2 " + types,
                   {{"2x4x"}}});
  cases.push_back({"layer_norm",
                   "layerNormMean",
                   operands,
                   "%y, %r0, %s = reprise.layer_norm %x0, %x1, %x2 " + types,
                   {row}});
  cases.push_back({"layer_norm",
                   "layerNormRstd",
                   operands,
                   "%y, %m, %r0 = reprise.layer_norm %x0, %x1, %x2 " + types,
                   {row}});
  cases.push_back({"layer_norm",
                   "layerNormAll",
                   operands,
                   "%r0, %r1, %r2 = reprise.layer_norm %x0, %x1, %x2 " + types,
                   {{"2x4x"}, row, row}});
}

static void addNorms(Cases &cases) {
  auto add = [&](std::string op, std::string name, std::vector<CaseValue> operands,
                 std::string text, std::vector<CaseValue> results) {
    cases.push_back({op, name, std::move(operands), std::move(text), std::move(results)});
  };
  auto rms = [&](std::string name, std::string results, std::vector<CaseValue> values) {
    add("rms_norm", name, {{"2x4x", -2, 2}, {"4x", 0.5, 2}},
        results + " = reprise.rms_norm %x0, %x1 {epsilon = 0.125 : f64} : (tensor<2x4x$t>, "
                  "tensor<4x$t>) -> (tensor<2x4x$t>, tensor<2x$c>)",
        std::move(values));
  };
  rms("rmsNorm", "%r0, %s", {{"2x4x"}});
  rms("rmsNormRstd", "%y, %r0", {{"2x", 0, 0, "$c"}});
  rms("rmsNormAll", "%r0, %r1", {{"2x4x"}, {"2x", 0, 0, "$c"}});

  auto group = [&](std::string name, std::string results, std::vector<CaseValue> values) {
    add("group_norm", name, {{"2x4x3x", -2, 2}, {"4x", 0.5, 2}, {"4x"}},
        results + " = reprise.group_norm %x0, %x1, %x2 groups 2 {epsilon = 0.125 : f64} : "
                  "(tensor<2x4x3x$t>, tensor<4x$t>, tensor<4x$t>) -> (tensor<2x4x3x$t>, "
                  "tensor<2x2x$c>, tensor<2x2x$c>)",
        std::move(values));
  };
  CaseValue groups{"2x2x", 0, 0, "$c"};
  group("groupNorm", "%r0, %m, %s", {{"2x4x3x"}});
  group("groupNormStatistics", "%y, %r0, %r1", {groups, groups});
  group("groupNormAll", "%r0, %r1, %r2", {{"2x4x3x"}, groups, groups});

  auto batch = [&](std::string name, std::string shape, std::string results,
                   std::vector<CaseValue> values) {
    std::string x = "tensor<" + shape + "$t>", c = "tensor<2x$t>", s = "tensor<2x$c>";
    add("batch_norm", name, {{shape, -2, 2}, {"2x", 0.5, 2}, {"2x"}},
        results + " = reprise.batch_norm %x0, %x1, %x2 {epsilon = 0.125 : f64} : (" + x + ", " + c +
            ", " + c + ") -> (" + x + ", " + s + ", " + s + ")",
        std::move(values));
  };
  CaseValue channels{"2x", 0, 0, "$c"};
  batch("batchNorm", "3x2x2x", "%r0, %m, %v", {{"3x2x2x"}});
  batch("batchNormMean", "3x2x", "%y, %r0, %v", {channels});
  batch("batchNormVariance", "3x2x2x", "%y, %m, %r0", {channels});
  batch("batchNormAll", "2x2x1x2x", "%r0, %r1, %r2", {{"2x2x1x2x"}, channels, channels});
  for (std::string results : {"%r0, %r1", "%m, %r0"})
    add("batch_statistics", "batchStatistics" + std::to_string(results.size()),
        {{"2x", -2, 2}, {"2x", 0.5, 2}},
        results + " = reprise.batch_statistics %x0, %x1 count 6 : tensor<2x$t>",
        results[1] == 'r' ? std::vector<CaseValue>{{"2x"}, {"2x"}}
                          : std::vector<CaseValue>{{"2x"}});
  add("batch_norm_inference", "batchNormInference",
      {{"3x2x2x", -2, 2}, {"2x", 0.5, 2}, {"2x"}, {"2x", -1, 1, "$c"}, {"2x", 0.5, 2, "$c"}},
      "%r0 = reprise.batch_norm_inference %x0, %x1, %x2, %x3, %x4 {epsilon = 0.125 : f64} : "
      "(tensor<3x2x2x$t>, tensor<2x$t>, tensor<2x$t>, tensor<2x$c>, tensor<2x$c>) -> "
      "tensor<3x2x2x$t>",
      {{"3x2x2x"}});
  for (std::string shape : {"3x4x", "2x2x3x4x"})
    add("rotary", "rotary" + std::to_string(shape.size() / 2),
        {{shape}, {"3x2x", -1, 1, "$c"}, {"3x2x", -1, 1, "$c"}},
        "%r0 = reprise.rotary %x0, %x1, %x2 : tensor<" + shape + "$t>, tensor<3x2x$c>", {{shape}});
}

static void addRandom(Cases &cases) {
  std::string state = "%seed = reprise.constant dense<7> : tensor<i64>\n"
                      "%offset = reprise.constant dense<4> : tensor<i64>\n";
  cases.push_back({"dropout",
                   "dropout",
                   {{"12x"}},
                   state + "%r0 = reprise.dropout %x0 seed %seed offset %offset {rate = 0.5 : f64, "
                           "stream = 3 : i64} : tensor<12x$t>",
                   {{"12x"}}});
  cases.push_back(
      {"dropout",
       "dropoutWindow",
       {{"2x6x"}},
       state + "%origin = reprise.constant dense<[1, 2]> : tensor<2xi64>\n"
               "%r0 = reprise.dropout %x0 seed %seed offset %offset origin %origin : tensor<2xi64> "
               "{rate = 0.25 : f64, stream = 3 : i64, global_shape = array<i64: 4, 9>} : "
               "tensor<2x6x$t>",
       {{"2x6x"}}});
}

static void addLoops(Cases &cases) {
  cases.push_back({"loop",
                   "loop",
                   {{"4x"}, {"3x4x"}, {"4x"}},
                   R"(%r0, %r1 = reprise.loop 3 (%c = %x0) over (%s = %x1)
        : (tensor<4x$t>, tensor<3x4x$t>) -> (tensor<4x$t>, tensor<3x4x$t>) {
      %la = reprise.mul %c, %s : tensor<4x$t>
      %lb = reprise.mul %la, %x2 : tensor<4x$t>
      %ld = reprise.sigmoid %lb : tensor<4x$t>
      %le = reprise.mul %ld, %x2 : tensor<4x$t>
      reprise.yield %le, %lb : tensor<4x$t>, tensor<4x$t>
    })",
                   {{"4x"}, {"3x4x"}}});
  // The body reads values from both levels above, slices of slices, a carry that swaps, and an
  // unused carry.
  cases.push_back(
      {"loop",
       "loopsInLoops",
       {{"4x"}, {"4x"}, {"4x"}, {"2x3x4x"}},
       R"(%r0, %r1, %rest, %r2 = reprise.loop 2 (%a = %x0, %b = %x1, %idle = %x1) over (%s = %x3) reverse
        : (tensor<4x$t>, tensor<4x$t>, tensor<4x$t>, tensor<2x3x4x$t>)
        -> (tensor<4x$t>, tensor<4x$t>, tensor<4x$t>, tensor<2x4x$t>) {
      %lt = reprise.mul %b, %x2 : tensor<4x$t>
      %ln, %rows = reprise.loop 3 (%i = %a) over (%q = %s)
          : (tensor<4x$t>, tensor<3x4x$t>) -> (tensor<4x$t>, tensor<3x4x$t>) {
        %lu = reprise.mul %i, %x2 : tensor<4x$t>
        %lv = reprise.tanh %lu : tensor<4x$t>
        %lw = reprise.mul %lv, %lt : tensor<4x$t>
        %ly = reprise.add %lw, %q : tensor<4x$t>
        reprise.yield %ly, %lw : tensor<4x$t>, tensor<4x$t>
      }
      %lz = reprise.sum %rows dims [0] : (tensor<3x4x$t>) -> tensor<4x$t>
      %lm = reprise.mul %idle, %x2 : tensor<4x$t>
      reprise.yield %b, %ln, %lm, %lz : tensor<4x$t>, tensor<4x$t>, tensor<4x$t>, tensor<4x$t>
    })",
       {{"4x"}, {"4x"}, {"2x4x"}}});
}

/// Adds a case of many ops and values with several uses: a normalized, attended residual, an
/// activation, a loss.
static void addComposite(Cases &cases) {
  std::string text = R"(
    %seed = reprise.constant dense<7> : tensor<i64>
    %offset = reprise.constant dense<4> : tensor<i64>
    %labels = reprise.constant dense<[[[1, 0, 1]]]> : tensor<1x1x3xi32>
    %n, %mean, %rstd = reprise.layer_norm %x0, %x1, %x2 {epsilon = 0.125 : f64}
        : (tensor<1x1x3x2x$t>, tensor<2x$t>, tensor<2x$t>) -> (tensor<1x1x3x2x$t>, tensor<1x1x3x$c>, tensor<1x1x3x$c>)
    %q = reprise.dot_general %n, %x3 contracting [3] x [0] : (tensor<1x1x3x2x$t>, tensor<2x2x$t>) -> tensor<1x1x3x2x$t>
    %k = reprise.dot_general %n, %x3 contracting [3] x [1] : (tensor<1x1x3x2x$t>, tensor<2x2x$t>) -> tensor<1x1x3x2x$t>
    %o, %lse = reprise.attention %q, %k, %n seed %seed offset %offset
        {causal, scale = 0.5 : f64, rate = 0.25 : f64, stream = 1 : i64}
        : (tensor<1x1x3x2x$t>, tensor<1x1x3x2x$t>, tensor<1x1x3x2x$t>) -> (tensor<1x1x3x2x$t>, tensor<1x1x3x$c>)
    %d = reprise.dropout %o seed %seed offset %offset {rate = 0.25 : f64, stream = 2 : i64} : tensor<1x1x3x2x$t>
    %h = reprise.add %x0, %d : tensor<1x1x3x2x$t>
    %g = reprise.gelu %h : tensor<1x1x3x2x$t>
    %l = reprise.mul %g, %h : tensor<1x1x3x2x$t>
    %r0 = reprise.cross_entropy %l, %labels : (tensor<1x1x3x2x$t>, tensor<1x1x3xi32>) -> tensor<1x1x3x$t>)";
  cases.push_back({"attention",
                   "block",
                   {{"1x1x3x2x", -2, 2}, {"2x", 0.5, 2}, {"2x"}, {"2x2x"}},
                   text,
                   {{"1x1x3x"}}});
}

const Cases &derivativeCases() {
  static const Cases all = [] {
    Cases cases;
    addElementwise(cases);
    addShape(cases);
    addIndexing(cases);
    addReductions(cases);
    addRows(cases);
    addNorms(cases);
    addRandom(cases);
    addStructureCases(cases);
    addAttentionCases(cases);
    addConvolutionCases(cases);
    addLoops(cases);
    addComposite(cases);
    return cases;
  }();
  return all;
}

} // namespace reprise::test
