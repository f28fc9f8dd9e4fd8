// Policies see the iterations of loops. Where they differ, the loop has to be unrolled.
// RUN: reprise-opt %s --reprise-assign-labels=unroll | FileCheck %s
// RUN: not reprise-opt %s --reprise-assign-labels 2>&1 | FileCheck %s --check-prefix=SPLIT
// RUN: reprise-opt %s --pass-pipeline="builtin.module(reprise-assign-labels{unroll},func.func(reprise-unroll-loops))" | FileCheck %s --check-prefix=UNROLLED

reprise.policy @p {
  // Iteration 1 of the inner loop in iteration 0 of the outer one; the stem of a loop's scope comes before its number.
  reprise.rule prefer_save match {scope = "layers/0/cell/1"}
  reprise.rule prefer_recompute match {op = "tanh", every = 3}
  reprise.rule must_save match {op = "sqrt"}
}

// CHECK-LABEL: func @nested(
// UNROLLED-LABEL: func @nested(
func.func @nested(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = reprise.loop 2 (%c = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    // Two iterations agree.
    // CHECK: reprise.sqrt {{.*}}reprise.label = #reprise.label<must_save>, reprise.rule = "policy @p:3"}
    %a = reprise.sqrt %c : tensor<4xf32> loc("layers/head")
    %1 = reprise.loop 2 (%d = %a) : (tensor<4xf32>) -> tensor<4xf32> {
      // CHECK: reprise.exp {{.*}}reprise.iterations = [{}, {reprise.label = #reprise.label<prefer_save>, reprise.rule = "policy @p:1"}, {}, {}]
      // SPLIT: error: {{.*}}expected one label in all iterations of a loop, but iteration 0 has no label and iteration 1 has 'prefer_save' from policy @p:1; with --unroll each iteration has its own
      %b = reprise.exp %d : tensor<4xf32> loc("layers/cell")
      // CHECK: reprise.tanh {{.*}}reprise.iterations = [{}, {}, {reprise.label = #reprise.label<prefer_recompute>, reprise.rule = "policy @p:2"}, {}]
      %e = reprise.tanh %b : tensor<4xf32> loc("elsewhere")
      reprise.yield %e : tensor<4xf32>
    } loc("layers/cell")
    reprise.yield %1 : tensor<4xf32>
  } loc("layers")
  return %0 : tensor<4xf32>
}
// UNROLLED: reprise.sqrt
// UNROLLED-NEXT: reprise.exp %{{[0-9]+}} {reprise.block = array<i64: {{[0-9, ]*}}>} :
// UNROLLED-NEXT: reprise.tanh
// UNROLLED-NEXT: reprise.exp {{.*}}<prefer_save>, reprise.rule = "policy @p:1"
// UNROLLED-NEXT: reprise.tanh %{{[0-9]+}} {reprise.block = array<i64: {{[0-9, ]*}}>} :
// UNROLLED-NEXT: reprise.sqrt
// UNROLLED-NEXT: reprise.exp
// UNROLLED-NEXT: reprise.tanh {{.*}}<prefer_recompute>, reprise.rule = "policy @p:2"
