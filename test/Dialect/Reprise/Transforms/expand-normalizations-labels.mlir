// The MUST of a normalization is about the values that it computes, not about the memory of its operand.
// RUN: reprise-compile %s --estimate --explain=convolution#0:0 | FileCheck %s
// RUN: reprise-compile %s --estimate --explain=mean#0:0 | FileCheck %s --check-prefix=MEAN
// RUN: reprise-fuzz check %s
// CHECK: convolution#0:0: a result of reprise.convolution
// CHECK: label must_save, from op
// CHECK-NEXT: saved, as op asks
// MEAN: mean#0:0: a result of reprise.mean
// MEAN: label must_recompute, from op
// MEAN-NEXT: replayed, as op asks
func.func @train(%x: tensor<2x8x4x4xf32> {reprise.init = #reprise.normal<0.0, 1.0>}, %w: tensor<8x8x3x3xf32> {reprise.init = #reprise.normal<0.0, 1.0>}, %g: tensor<8xf32> {reprise.init = #reprise.normal<0.0, 1.0>}, %b: tensor<8xf32> {reprise.init = #reprise.normal<0.0, 1.0>}) -> (tensor<f32>, tensor<8x8x3x3xf32>) {
  %0:2 = reprise.value_and_grad (%v = %w) wrt [0] : (tensor<8x8x3x3xf32>) -> (tensor<f32>, tensor<8x8x3x3xf32>) {
    %c = reprise.convolution %x, %v strides [1, 1] low [1, 1] high [1, 1] dilation [1, 1] {groups = 1 : i64, reprise.label = #reprise.label<must_save>} : (tensor<2x8x4x4xf32>, tensor<8x8x3x3xf32>) -> tensor<2x8x4x4xf32>
    %n:3 = "reprise.group_norm"(%c, %g, %b) <{epsilon = 1.000000e-05 : f64, groups = 4 : i64}> {reprise.label = #reprise.label<must_recompute>} : (tensor<2x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<2x8x4x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
    %m = reprise.mul %n#0, %n#0 : tensor<2x8x4x4xf32>
    %s = reprise.sum %m dims [0, 1, 2, 3] : (tensor<2x8x4x4xf32>) -> tensor<f32>
    reprise.yield %s : tensor<f32>
  }
  return %0#0, %0#1 : tensor<f32>, tensor<8x8x3x3xf32>
}
