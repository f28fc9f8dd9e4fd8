// RUN: reprise-reduce %s --reprise-shrink='test=%S/Inputs/has-tanh.sh' | FileCheck %s
// What the test does not need goes away: functions, results, ops before and after, regions, labels, arguments.
// CHECK:      module {
// CHECK-NEXT:   func.func @f(%[[X:.*]]: tensor<2xf32> {reprise.init = #reprise.normal<{{.*}}>}) -> tensor<2xf32> {
// CHECK-NEXT:     %[[Y:.*]] = reprise.tanh %[[X]] : tensor<2xf32>
// CHECK-NEXT:     return %[[Y]] : tensor<2xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @f(%x: tensor<2xf32>, %n: tensor<3xi32>) -> (tensor<f32>, tensor<2xf32>, tensor<3xi32>) {
  %e = reprise.exp %x : tensor<2xf32>
  %t = reprise.checkpoint policy "save-all" {
    %y = reprise.tanh %e {reprise.label = #reprise.label<must_save>} : tensor<2xf32>
    reprise.yield %y : tensor<2xf32>
  } : tensor<2xf32>
  %loss, %gradient = reprise.value_and_grad (%p = %t) wrt [0] : (tensor<2xf32>) -> (tensor<f32>, tensor<2xf32>) {
    %s = reprise.sum %p dims [0] : (tensor<2xf32>) -> tensor<f32>
    reprise.yield %s : tensor<f32>
  }
  %m = reprise.neg %n : tensor<3xi32>
  return %loss, %t, %m : tensor<f32>, tensor<2xf32>, tensor<3xi32>
}
func.func @unused(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
