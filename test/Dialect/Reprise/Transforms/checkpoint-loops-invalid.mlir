// RUN: reprise-opt %s --reprise-differentiate --reprise-make-programs --reprise-checkpoint --verify-diagnostics

func.func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  %0:2 = reprise.value_and_grad (%v = %x) wrt [0] : (tensor<16xf32>) -> (tensor<f32>, tensor<16xf32>) {
    %h = reprise.loop 3 (%c = %v) : (tensor<16xf32>) -> tensor<16xf32> {
      %m = reprise.mul %c, %c {reprise.block = array<i64: 0>} : tensor<16xf32>
      // expected-error@+1 {{expected no 'must_recompute' on a carry of a loop: run reprise-split-loops first}}
      %t = reprise.tanh %m {reprise.block = array<i64: 0>, reprise.label = #reprise.label<must_recompute>} : tensor<16xf32>
      reprise.yield %t : tensor<16xf32>
    } {reprise.block = array<i64: 0>}
    %l = reprise.sum %h dims [0] {reprise.block = array<i64: 1>} : (tensor<16xf32>) -> tensor<f32>
    reprise.yield %l : tensor<f32>
  }
  return %0#1 : tensor<16xf32>
}
