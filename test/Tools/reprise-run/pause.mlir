// A step that pauses runs as a whole, under every plan with the same bits, and the interpreter has them, too.
// RUN: rm -rf %t && mkdir %t
// RUN: reprise-compile %s -o %t/save.rpb --policy=save-all --threads=2 --report=%t/save.json
// RUN: reprise-compile %s -o %t/recompute.rpb --policy=recompute-all --verify-replays --threads=2 --report=%t/recompute.json
// RUN: reprise-compile %s -o %t/budget.rpb --budget=5632 --threads=2
// RUN: reprise-run %t/save.rpb --seed=3 --threads=2 --output-dir=%t/save --trace=%t/trace.json | FileCheck %s
// RUN: reprise-run %t/recompute.rpb --seed=3 --threads=1 --output-dir=%t/recompute
// RUN: reprise-run %t/budget.rpb --seed=3 --check-indices --output-dir=%t/budget
// RUN: reprise-compile %s --interpret --seed=3 --output-dir=%t/interpreted
// RUN: diff -r %t/save %t/recompute && diff -r %t/save %t/budget && diff -r %t/save %t/interpreted
// RUN: grep -c '"replayed_ops": 0' %t/save.json
// RUN: not grep -c '"replayed_ops": 0' %t/recompute.json
// CHECK: hash

// RUN: not reprise-compile %s -o %t/cut.rpb --microbatches=2 2>&1 | FileCheck %s --check-prefix=BATCHES
// RUN: not reprise-compile %s -o %t/cut.rpb --stages=2 2>&1 | FileCheck %s --check-prefix=STAGES
// BATCHES: pause.mlir:[[#]]:[[#]]: error: {{.*}}a step that pauses is not cut into micro-batches
// STAGES: pause.mlir:[[#]]:[[#]]: error: {{.*}}a step that pauses is not cut into stages

func.func private @loss(%x: tensor<16x8xf32>, %w: tensor<2x8x8xf32>, %dy: tensor<16x8xf32>) -> (tensor<f32>, tensor<16x8xf32>) {
  %w0 = reprise.slice %w from [0, 0, 0] to [1, 8, 8] by [1, 1, 1] : (tensor<2x8x8xf32>) -> tensor<1x8x8xf32>
  %w1 = reprise.reshape %w0 : (tensor<1x8x8xf32>) -> tensor<8x8xf32>
  %a = reprise.block {
    %0 = reprise.dot_general %x, %w1 contracting [1] x [0] : (tensor<16x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
    %1 = reprise.gelu %0 {form = #reprise<gelu_form tanh>} : tensor<16x8xf32>
    %2 = reprise.dropout %1 {rate = 0.5 : f32} : tensor<16x8xf32>
    reprise.yield %2 : tensor<16x8xf32>
  } : tensor<16x8xf32>
  %b = reprise.block {
    %0 = reprise.dot_general %a, %w1 contracting [1] x [0] : (tensor<16x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
    %1 = reprise.gelu %0 {form = #reprise<gelu_form tanh>} : tensor<16x8xf32>
    reprise.yield %1 : tensor<16x8xf32>
  } : tensor<16x8xf32>
  %y = reprise.tanh %b : tensor<16x8xf32>
  %late = reprise.pause (%y) then (%dy) : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
  %p = reprise.mul %y, %late : tensor<16x8xf32>
  %s = reprise.sum %p dims [0, 1] : (tensor<16x8xf32>) -> tensor<f32>
  return %s, %y : tensor<f32>, tensor<16x8xf32>
}

func.func @train(%x: tensor<16x8xf32> {reprise.name = "x", reprise.role = "input", reprise.init = #reprise.normal<0.0, 1.0>, reprise.batch_dim = 0 : i64},
    %w: tensor<2x8x8xf32> {reprise.name = "w", reprise.role = "parameter", reprise.init = #reprise.normal<0.0, 1.0>},
    %dy: tensor<16x8xf32> {reprise.name = "dy", reprise.role = "input", reprise.init = #reprise.normal<0.0, 1.0>, reprise.batch_dim = 0 : i64},
    %o: tensor<16x8xf32> {reprise.name = "y", reprise.role = "state", reprise.init = #reprise.fill<0.0>})
    -> (tensor<16x8xf32> {reprise.name = "y"}, tensor<16x8xf32> {reprise.name = "dx"}, tensor<2x8x8xf32> {reprise.name = "dw"}) {
  %r:4 = reprise.value_and_grad @loss(%x, %w, %dy) wrt [0, 1] : (tensor<16x8xf32>, tensor<2x8x8xf32>, tensor<16x8xf32>) -> (tensor<f32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<2x8x8xf32>)
  return %r#1, %r#2, %r#3 : tensor<16x8xf32>, tensor<16x8xf32>, tensor<2x8x8xf32>
}
