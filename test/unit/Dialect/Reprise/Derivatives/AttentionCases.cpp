// reprise: small programs around attention and its backward, for the test of their derivatives.
#include "DerivativeCases.h"

namespace reprise::test {

using Cases = std::vector<DerivativeCase>;

static const std::string state = "%seed = reprise.constant dense<7> : tensor<i64>\n"
                                 "%offset = reprise.constant dense<4> : tensor<i64>\n";

static void addPlain(Cases &cases) {
  const std::string q = "1x2x3x2x", k = "1x2x4x2x", row = "1x2x3x";
  auto tensor = [](std::string shape, std::string element = "$t") {
    return "tensor<" + shape + element + ">";
  };
  std::string inputs = tensor(q) + ", " + tensor(k) + ", " + tensor(k);
  std::string draws = "seed %seed offset %offset ", masked = "{scale = 0.5 : f64, causal, ";
  std::string rate = "rate = 0.25 : f64, stream = 1 : i64} : (";
  auto attention = [&](std::string name, std::string results, std::string attributes,
                       std::vector<CaseValue> values) {
    cases.push_back({"attention",
                     name,
                     {{q, -2, 2}, {k, -2, 2}, {k, -2, 2}},
                     state + results + " = reprise.attention %x0, %x1, %x2 " + attributes + inputs +
                         ") -> (" + tensor(q) + ", " + tensor(row, "$c") + ")",
                     values});
  };
  CaseValue lse{row, 0, 0, "$c"};
  attention("attention", "%r0, %l", "{scale = 0.5 : f64} : (", {{q}});
  attention("attentionCausal", "%r0, %l", masked + "rate = 0.0 : f64} : (", {{q}});
  attention("attentionDropout", "%r0, %l", draws + "{scale = 0.5 : f64, " + rate, {{q}});
  attention("attentionLse", "%o, %r0", masked + "rate = 0.0 : f64} : (", {lse});
  attention("attentionAll", "%r0, %r1", draws + masked + rate, {{q}, lse});

  auto backward = [&](std::string name, std::string results, std::string dlse,
                      std::string attributes, std::vector<CaseValue> values) {
    std::vector<CaseValue> operands{{q}, {k}, {k}, {q}, {row, 1, 2, "$c"}, {q}};
    if (!dlse.empty())
      operands.push_back(lse = {row, -1, 1, "$c"});
    cases.push_back({"attention_backward", name, operands,
                     state + results +
                         " = reprise.attention_backward %x0, %x1, %x2, %x3, %x4, %x5 " + dlse +
                         attributes + inputs + ", " + tensor(q) + ", " + tensor(row, "$c") + ", " +
                         tensor(q) + ") -> (" + inputs + ")",
                     values});
  };
  std::string dlse = "dlse %x6 : " + tensor(row, "$c") + " ";
  backward("attentionBackward", "%r0, %r1, %r2", "", "{scale = 0.5 : f64} : (", {{q}, {k}, {k}});
  backward("attentionBackwardAll", "%r0, %r1, %r2", dlse, draws + masked + rate, {{q}, {k}, {k}});
  backward("attentionBackwardQuery", "%r0, %a, %b", dlse, masked + "rate = 0.0 : f64} : (", {{q}});
  backward("attentionBackwardKey", "%a, %r0, %b", "", draws + masked + rate, {{k}});
  backward("attentionBackwardValue", "%a, %b, %r0", "", draws + masked + rate, {{k}});
}

/// Adds cases in which two query heads read each of two key heads; the mask hides every key from
/// query 1 in one head.
static void addGrouped(Cases &cases) {
  const std::string q = "1x4x2x2x", k = "1x2x3x2x", row = "1x4x2x", scores = "1x4x2x3x";
  auto tensor = [](const std::string &shape, const std::string &element) {
    return "tensor<" + shape + element + ">";
  };
  std::string inputs = tensor(q, "$t") + ", " + tensor(k, "$t") + ", " + tensor(k, "$t");
  std::string mask = "%mask = reprise.constant dense<[[[[true, false, true], [false, true, true]], "
                     "[[true, true, true], [false, true, false]], [[true, true, false], "
                     "[false, false, false]], [[true, true, true], [true, true, true]]]]> : "
                     "tensor<1x4x2x3xi1>\n";
  struct Extra {
    // Shape of the bias.
    std::string name, bias;
    bool masked, draws, causal;
  };
  for (const Extra &e :
       {Extra{"Grouped", "", false, false, false}, Extra{"Bias", "1x1x2x3x", false, true, false},
        Extra{"Mask", "", true, false, false},
        Extra{"AllOperands", "1x4x1x3x", true, true, true}}) {
    std::string how = std::string(e.masked ? "mask %mask : tensor<1x4x2x3xi1> " : "") +
                      (e.draws ? "seed %seed offset %offset " : "") + "{scale = 0.5 : f64" +
                      (e.causal ? ", causal" : "") +
                      (e.draws ? ", rate = 0.25 : f64, stream = 1 : i64" : "") + "} : (";
    auto biasOf = [&](int operand) {
      return e.bias.empty()
                 ? std::string()
                 : "bias %x" + std::to_string(operand) + " : " + tensor(e.bias, "$c") + " ";
    };
    std::vector<CaseValue> operands{{q, -2, 2}, {k, -2, 2}, {k, -2, 2}};
    CaseValue bias{e.bias, -1, 1, "$c"};
    if (!e.bias.empty())
      operands.push_back(bias);
    cases.push_back({"attention",
                     "attention" + e.name,
                     operands,
                     state + mask + "%r0, %l = reprise.attention %x0, %x1, %x2 " + biasOf(3) + how +
                         inputs + ") -> (" + tensor(q, "$t") + ", " + tensor(row, "$c") + ")",
                     {{q}}});
    operands = {{q}, {k}, {k}, {q}, {row, 1, 2, "$c"}, {q}, {row, -1, 1, "$c"}};
    std::vector<CaseValue> results{{q}, {k}, {k}};
    std::string names = "%r0, %r1, %r2", types = inputs;
    if (!e.bias.empty()) {
      operands.push_back(bias);
      results.push_back({scores, 0, 0, "$c"});
      names += ", %r3", types += ", " + tensor(scores, "$c");
    }
    cases.push_back({"attention_backward", "attentionBackward" + e.name, operands,
                     state + mask + names +
                         " = reprise.attention_backward %x0, %x1, %x2, %x3, %x4, %x5 dlse %x6 : " +
                         tensor(row, "$c") + " " + biasOf(7) + how + inputs + ", " +
                         tensor(q, "$t") + ", " + tensor(row, "$c") + ", " + tensor(q, "$t") +
                         ") -> (" + types + ")",
                     results});
  }
}

/// Values of another width than keys, wider and narrower, read by two query heads each.
static void addValueWidths(Cases &cases) {
  const std::string q = "1x2x3x2x", k = "1x1x4x2x", row = "1x2x3x";
  auto tensor = [](std::string shape, std::string element = "$t") {
    return "tensor<" + shape + element + ">";
  };
  for (auto [name, width] : {std::pair("Wide", "3x"), {"Narrow", "1x"}}) {
    std::string v = "1x1x4x" + std::string(width), out = "1x2x3x" + std::string(width);
    std::string inputs = tensor(q) + ", " + tensor(k) + ", " + tensor(v);
    std::string how = "seed %seed offset %offset {scale = 0.5 : f64, causal, rate = 0.25 : f64, "
                      "stream = 1 : i64} : (";
    cases.push_back({"attention",
                     std::string("attentionValues") + name,
                     {{q, -2, 2}, {k, -2, 2}, {v, -2, 2}},
                     state + "%r0, %r1 = reprise.attention %x0, %x1, %x2 " + how + inputs +
                         ") -> (" + tensor(out) + ", " + tensor(row, "$c") + ")",
                     {{out}, {row, 0, 0, "$c"}}});
    cases.push_back(
        {"attention_backward",
         std::string("attentionBackwardValues") + name,
         {{q}, {k}, {v}, {out}, {row, 1, 2, "$c"}, {out}},
         state + "%r0, %r1, %r2 = reprise.attention_backward %x0, %x1, %x2, %x3, %x4, %x5 " + how +
             inputs + ", " + tensor(out) + ", " + tensor(row, "$c") + ", " + tensor(out) +
             ") -> (" + inputs + ")",
         {{q}, {k}, {v}}});
  }
}

void addAttentionCases(Cases &cases) {
  addPlain(cases);
  addGrouped(cases);
  addValueWidths(cases);
}

} // namespace reprise::test
