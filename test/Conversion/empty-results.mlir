// A dimension of size 0 is no special case for a user: rows, columns or the batch of a contraction, with and without
// ops behind it. Its gradient is a sum of nothing.
// RUN: rm -rf %t && mkdir %t
// RUN: reprise-compile %s --interpret --seed=3 --output-dir=%t/reference
// RUN: reprise-compile %s -o %t/model.rpb
// RUN: reprise-run %t/model.rpb --seed=3 --output-dir=%t/compiled
// RUN: diff -r %t/reference %t/compiled
// RUN: od -An -tx1 -j128 %t/compiled/gradient.npy | FileCheck %s

// CHECK-COUNT-24: 00
// CHECK-NOT: {{[0-9a-f]}}

func.func private @loss(%x: tensor<0x2xf32>, %w: tensor<2x3xf32>) -> tensor<f32> {
  %0 = reprise.dot_general %x, %w contracting [1] x [0] : (tensor<0x2xf32>, tensor<2x3xf32>) -> tensor<0x3xf32>
  %1 = reprise.sum %0 dims [0, 1] : (tensor<0x3xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}

func.func @train(
    %x: tensor<0x2xf32> {reprise.role = "input", reprise.name = "x", reprise.init = #reprise.normal<0.0, 1.0>},
    %w: tensor<2x3xf32> {reprise.role = "input", reprise.name = "w", reprise.init = #reprise.normal<0.0, 1.0>},
    %b: tensor<0x5x3xbf16> {reprise.role = "input", reprise.name = "b", reprise.init = #reprise.normal<0.0, 1.0>})
    -> (tensor<0x3xf32> {reprise.name = "rows"}, tensor<3x0xf32> {reprise.name = "columns"},
        tensor<0x5x5xbf16> {reprise.name = "batch"}, tensor<0x3xf32> {reprise.name = "rows behind"},
        tensor<2x3xf32> {reprise.name = "gradient"}) {
  %rows = reprise.dot_general %x, %w contracting [1] x [0] : (tensor<0x2xf32>, tensor<2x3xf32>) -> tensor<0x3xf32>
  %columns = reprise.dot_general %w, %x contracting [0] x [1] : (tensor<2x3xf32>, tensor<0x2xf32>) -> tensor<3x0xf32>
  %batch = reprise.dot_general %b, %b batch [0] x [0] contracting [2] x [2]
      : (tensor<0x5x3xbf16>, tensor<0x5x3xbf16>) -> tensor<0x5x5xbf16>
  %again = reprise.dot_general %x, %w contracting [1] x [0] : (tensor<0x2xf32>, tensor<2x3xf32>) -> tensor<0x3xf32>
  %gelu = reprise.gelu %again : tensor<0x3xf32>
  %behind = reprise.add %gelu, %again : tensor<0x3xf32>
  %loss, %gradient = reprise.value_and_grad @loss(%x, %w) wrt [1]
      : (tensor<0x2xf32>, tensor<2x3xf32>) -> (tensor<f32>, tensor<2x3xf32>)
  return %rows, %columns, %batch, %behind, %gradient
      : tensor<0x3xf32>, tensor<3x0xf32>, tensor<0x5x5xbf16>, tensor<0x3xf32>, tensor<2x3xf32>
}
