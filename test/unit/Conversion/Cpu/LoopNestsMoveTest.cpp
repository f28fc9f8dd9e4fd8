// reprise: ops that move elements, each as a group of its own, against the interpreter
#include "NestOpHarness.h"

using namespace reprise::test;

namespace {

struct LoopsMoves : LoopOpHarness {
  /// A view from one type to another, for some element types.
  void view(const std::string &op, const std::string &from, const std::string &to) {
    for (const std::string &element : elements)
      one(op + with(" : (" + from + ") -> " + to, element), {with(from, element)},
          with(to, element));
  }
};

TEST_F(LoopsMoves, Broadcast) {
  view("broadcast %a dims []", "tensor<T>", "tensor<5x7xT>");
  view("broadcast %a dims []", "tensor<T>", "tensor<T>");
  view("broadcast %a dims [0]", "tensor<5xT>", "tensor<5x70xT>");
  view("broadcast %a dims [1]", "tensor<70xT>", "tensor<5x70xT>");
  view("broadcast %a dims [0, 2]", "tensor<3x33xT>", "tensor<3x4x33x2xT>");
  view("broadcast %a dims [1]", "tensor<1xT>", "tensor<3x1xT>");
  view("broadcast %a dims [1]", "tensor<0xT>", "tensor<3x0xT>");
}

TEST_F(LoopsMoves, Reshape) {
  view("reshape %a", "tensor<6x35xT>", "tensor<7x30xT>");
  view("reshape %a", "tensor<1xT>", "tensor<T>");
  view("reshape %a", "tensor<0x3xT>", "tensor<2x0xT>");
}

TEST_F(LoopsMoves, Transpose) {
  view("transpose %a [1, 0]", "tensor<33x17xT>", "tensor<17x33xT>");
  view("transpose %a [0, 2, 1, 3]", "tensor<2x3x5x32xT>", "tensor<2x5x3x32xT>");
  view("transpose %a [2, 1, 0]", "tensor<2x3x5xT>", "tensor<5x3x2xT>");
  view("transpose %a [1, 0, 2]", "tensor<4x6x1xT>", "tensor<6x4x1xT>");
}

TEST_F(LoopsMoves, Slice) {
  view("slice %a from [3] to [60] by [1]", "tensor<67xT>", "tensor<57xT>");
  view("slice %a from [1, 2] to [4, 63] by [2, 3]", "tensor<5x64xT>", "tensor<2x21xT>");
  view("slice %a from [0, 32] to [5, 64] by [1, 1]", "tensor<5x96xT>", "tensor<5x32xT>");
  view("slice %a from [2, 0] to [2, 4] by [1, 1]", "tensor<5x4xT>", "tensor<0x4xT>");
}

TEST_F(LoopsMoves, Pad) {
  auto pad = [&](const std::string &rest, const std::string &from, const std::string &to) {
    for (const std::string &element : elements) {
      std::string value = element == "i1"     ? "true"
                          : element[0] == 'i' ? "7 : " + element
                                              : "-0.0 : " + element;
      one("pad %a with " + value + " " + rest + with(" : (" + from + ") -> " + to, element),
          {with(from, element)}, with(to, element));
    }
  };
  pad("low [3] high [5] interior [0]", "tensor<40xT>", "tensor<48xT>");
  pad("low [1, 0] high [2, 0] interior [0, 0]", "tensor<3x33xT>", "tensor<6x33xT>");
  pad("low [0, 33] high [1, 2] interior [0, 0]", "tensor<3x33xT>", "tensor<4x68xT>");
  pad("low [0, 1] high [2, 0] interior [1, 2]", "tensor<3x5xT>", "tensor<7x14xT>");
  pad("low [1, 0] high [0, 0] interior [2, 0]", "tensor<3x34xT>", "tensor<8x34xT>");
  pad("low [2, 0] high [0, 1] interior [0, 0]", "tensor<0x3xT>", "tensor<2x4xT>");
}

TEST_F(LoopsMoves, Concatenate) {
  for (const std::string &element : elements) {
    auto join = [&](const std::string &dim, const Strings &types, const std::string &result) {
      Strings operands;
      std::string names, list;
      for (const std::string &type : types) {
        operands.push_back(with(type, element));
        names += std::string(names.empty() ? "%" : ", %") + char('a' + operands.size() - 1);
        list += (list.empty() ? "" : ", ") + operands.back();
      }
      one("concatenate " + names + " dim " + dim + " : (" + list + ") -> " + with(result, element),
          operands, with(result, element));
    };
    join("0", {"tensor<3xT>", "tensor<40xT>", "tensor<0xT>", "tensor<9xT>"}, "tensor<52xT>");
    join("1", {"tensor<3x32xT>", "tensor<3x64xT>", "tensor<3x32xT>"}, "tensor<3x128xT>");
    join("1", {"tensor<2x3x5xT>", "tensor<2x1x5xT>"}, "tensor<2x4x5xT>");
    join("0", {"tensor<2x35xT>", "tensor<1x35xT>"}, "tensor<3x35xT>");
  }
}

TEST_F(LoopsMoves, Iota) {
  for (const std::string &element : elements) {
    if (element == "i1")
      continue;
    one(with("iota dim 0 : tensor<300xT>", element), {}, with("tensor<300xT>", element));
    one(with("iota dim 1 : tensor<3x37x2xT>", element), {}, with("tensor<3x37x2xT>", element));
    one(with("iota dim 0 : tensor<5x33xT>", element), {}, with("tensor<5x33xT>", element));
  }
}

TEST_F(LoopsMoves, Constant) {
  one("constant dense<1.5> : tensor<70xf32>", {}, "tensor<70xf32>");
  one("constant dense<-0.1> : tensor<3x7xbf16>", {}, "tensor<3x7xbf16>");
  one("constant dense<0xFE00> : tensor<5xf16>", {}, "tensor<5xf16>");
  one("constant dense<true> : tensor<5xi1>", {}, "tensor<5xi1>");
  one("constant dense<-3> : tensor<i64>", {}, "tensor<i64>");
}

} // namespace
