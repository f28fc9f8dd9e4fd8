// reprise: ops with computed positions, each as a group of its own, against the interpreter
#include "NestOpHarness.h"

using namespace reprise;
using namespace reprise::test;

namespace {

using LoopsIndexing = LoopOpHarness;

TEST_F(LoopsIndexing, Gather) {
  for (const std::string &index : Strings{"i32", "i64"})
    for (const std::string &element : elements) {
      auto gather = [&](const std::string &table, const std::string &indices,
                        const std::string &result) {
        std::string i = with(indices, index), t = with(table, element), r = with(result, element);
        one("gather %a[%b] : (" + t + ", " + i + ") -> " + r, {t, i}, r);
      };
      gather("tensor<11x40xT>", "tensor<3x5xT>", "tensor<3x5x40xT>");
      gather("tensor<11xT>", "tensor<77xT>", "tensor<77xT>");
      gather("tensor<11x2x3xT>", "tensor<T>", "tensor<2x3xT>");
      gather("tensor<11x3xT>", "tensor<0xT>", "tensor<0x3xT>");
    }
}

TEST_F(LoopsIndexing, ScatterAdd) {
  for (const std::string &index : Strings{"i32", "i64"})
    for (const std::string &element : Strings{"f32", "f64", "bf16", "f16"}) {
      auto scatter = [&](const std::string &indices, const std::string &updates,
                         const std::string &table) {
        std::string i = with(indices, index), u = with(updates, element), t = with(table, element);
        one("scatter_add %b at %a : (" + i + ", " + u + ") -> " + t, {i, u}, t);
      };
      scatter("tensor<3x50xT>", "tensor<3x50x39xT>", "tensor<11x39xT>");
      scatter("tensor<200xT>", "tensor<200xT>", "tensor<11xT>");
      scatter("tensor<4xT>", "tensor<4x2000xT>", "tensor<3x2000xT>");
      scatter("tensor<0xT>", "tensor<0x3xT>", "tensor<300x3xT>");
    }
}

TEST_F(LoopsIndexing, Scatter) {
  for (const std::string &index : Strings{"i32", "i64"})
    for (const std::string &element : elements) {
      auto scatter = [&](const std::string &indices, const std::string &updates,
                         const std::string &table) {
        std::string i = with(indices, index), u = with(updates, element), t = with(table, element);
        one("scatter %c into %a at %b : (" + t + ", " + i + ", " + u + ") -> " + t, {t, i, u}, t);
      };
      scatter("tensor<3x50xT>", "tensor<3x50x39xT>", "tensor<11x39xT>");
      scatter("tensor<200xT>", "tensor<200xT>", "tensor<11xT>");
      scatter("tensor<4xT>", "tensor<4x2000xT>", "tensor<3x2000xT>");
      scatter("tensor<0xT>", "tensor<0x3xT>", "tensor<300x3xT>");
    }
}

TEST_F(LoopsIndexing, TakeAlong) {
  for (const std::string &index : Strings{"i32", "i64"})
    for (const std::string &element : elements) {
      auto take = [&](const std::string &rows, const std::string &indices) {
        std::string i = with(indices, index), x = with(rows, element), r = with(indices, element);
        one("take_along %a[%b] : (" + x + ", " + i + ") -> " + r, {x, i}, r);
      };
      take("tensor<7x20xT>", "tensor<7x3xT>");
      take("tensor<2x5x19xT>", "tensor<2x5x70xT>");
      take("tensor<20xT>", "tensor<64xT>");
      take("tensor<40x1xT>", "tensor<40x1xT>");
      take("tensor<4x9xT>", "tensor<4x0xT>");
    }
}

TEST_F(LoopsIndexing, ScatterAddAlong) {
  for (const std::string &index : Strings{"i32", "i64"})
    for (const std::string &element : Strings{"f32", "f64", "bf16", "f16"}) {
      auto scatter = [&](const std::string &indices, const std::string &rows) {
        std::string i = with(indices, index), u = with(indices, element), r = with(rows, element);
        one("scatter_add_along %b at %a : (" + i + ", " + u + ") -> " + r, {i, u}, r);
      };
      scatter("tensor<7x50xT>", "tensor<7x20xT>");
      scatter("tensor<2x30x3xT>", "tensor<2x30x2000xT>");
      scatter("tensor<100xT>", "tensor<40000xT>");
      scatter("tensor<4x0xT>", "tensor<4x9xT>");
    }
}

TEST_F(LoopsIndexing, OneHot) {
  for (const std::string &index : Strings{"i32", "i64"})
    for (const std::string &element : elements) {
      if (element == "i1")
        continue;
      auto hot = [&](const std::string &indices, const std::string &rows) {
        std::string i = with(indices, index), r = with(rows, element);
        one("one_hot %a : (" + i + ") -> " + r, {i}, r);
      };
      hot("tensor<7xT>", "tensor<7x20xT>");
      hot("tensor<2x30xT>", "tensor<2x30x5xT>");
      hot("tensor<T>", "tensor<64xT>");
    }
}

TEST_F(LoopsIndexing, DynamicSlice) {
  for (const std::string &index : Strings{"i32", "i64"})
    for (const std::string &element : elements) {
      auto slice = [&](const std::string &whole, const std::string &rank,
                       const std::string &window) {
        std::string x = with(whole, element), w = with(window, element);
        std::string s = "tensor<" + rank + "x" + index + ">";
        one("dynamic_slice %a at %b : (" + x + ", " + s + ") -> " + w, {x, s}, w);
      };
      slice("tensor<20xT>", "1", "tensor<5xT>");
      slice("tensor<20x40xT>", "2", "tensor<1x40xT>");
      slice("tensor<20x40xT>", "2", "tensor<20x3xT>");
      slice("tensor<9x7x33xT>", "3", "tensor<2x7x20xT>");
      slice("tensor<9x7xT>", "2", "tensor<9x7xT>");
      slice("tensor<T>", "0", "tensor<T>");
    }
}

TEST_F(LoopsIndexing, DynamicUpdate) {
  for (const std::string &index : Strings{"i32", "i64"})
    for (const std::string &element : elements) {
      auto update = [&](const std::string &whole, const std::string &window,
                        const std::string &rank) {
        std::string x = with(whole, element), w = with(window, element);
        std::string s = "tensor<" + rank + "x" + index + ">";
        one("dynamic_update %b into %a at %c : (" + x + ", " + w + ", " + s + ") -> " + x,
            {x, w, s}, x);
      };
      update("tensor<20xT>", "tensor<5xT>", "1");
      update("tensor<20x40xT>", "tensor<1x40xT>", "2");
      update("tensor<20x40xT>", "tensor<20x3xT>", "2");
      update("tensor<9x7x33xT>", "tensor<2x7x20xT>", "3");
      update("tensor<3x40000xT>", "tensor<2x39999xT>", "2");
      update("tensor<9x7xT>", "tensor<9x7xT>", "2");
      update("tensor<9x7xT>", "tensor<9x0xT>", "2");
      update("tensor<T>", "tensor<T>", "0");
    }
}

/// Lanes that take their draws from anywhere: the draws are stored first.
TEST_F(LoopsIndexing, DrawsAtComputedPlaces) {
  check(
      R"(func.func @f(%x: tensor<5x40xf32>, %i: tensor<5x40xi32>, %s: tensor<i64>, %o: tensor<i64>)
      -> tensor<5x40xf32> {
    %d = reprise.dropout %x seed %s offset %o {rate = 0.3 : f64, stream = 1 : i64} : tensor<5x40xf32>
    %r = reprise.take_along %d[%i] : (tensor<5x40xf32>, tensor<5x40xi32>) -> tensor<5x40xf32>
    return %r : tensor<5x40xf32>
  })");
  EXPECT_EQ(commands, 2u);
}

} // namespace
