// RUN: reprise-reduce %s -reduction-tree='traversal-mode=0 test=%S/Inputs/has-tanh.sh' | FileCheck %s
// Ops that the test does not need go away.
// CHECK: reprise.tanh
// CHECK-NOT: @unused
func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = reprise.tanh %x : tensor<2xf32>
  return %y : tensor<2xf32>
}
func.func @unused(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
