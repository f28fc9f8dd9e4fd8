// Regions, names, differentiation and the attributes of an entry read back as they were written.
// RUN: reprise-opt %s | reprise-opt | FileCheck %s
// RUN: reprise-opt %s --mlir-print-op-generic | reprise-opt | FileCheck %s
// RUN: reprise-opt %s --emit-bytecode | reprise-opt | FileCheck %s

// CHECK-LABEL: func @regions(
func.func @regions(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]]:2 = reprise.block {
  %0:2 = reprise.block {
    // CHECK-NEXT: %[[B:.*]] = reprise.checkpoint {
    %1 = reprise.checkpoint {
      // CHECK-NEXT: %[[E:.*]] = reprise.exp
      %2 = reprise.exp %x : tensor<4xf32>
      // CHECK-NEXT: reprise.yield %[[E]] : tensor<4xf32>
      reprise.yield %2 : tensor<4xf32>
    // CHECK-NEXT: } : tensor<4xf32>
    } : tensor<4xf32>
    // CHECK-NEXT: reprise.yield %[[B]], %{{.*}} : tensor<4xf32>, tensor<4xf32>
    reprise.yield %1, %x : tensor<4xf32>, tensor<4xf32>
  // CHECK-NEXT: } : tensor<4xf32>, tensor<4xf32>
  } : tensor<4xf32>, tensor<4xf32>
  // CHECK-NEXT: reprise.block {
  // CHECK-NEXT: reprise.yield
  // CHECK-NEXT: }
  reprise.block {
    reprise.yield
  }
  // CHECK-NEXT: reprise.checkpoint policy "dots-saveable" {
  // CHECK-NEXT: reprise.yield
  // CHECK-NEXT: } {reprise.label = #reprise.label<prefer_save>} : tensor<4xf32>
  %3 = reprise.checkpoint policy "dots-saveable" {
    reprise.yield %0#0 : tensor<4xf32>
  } {reprise.label = #reprise.label<prefer_save>} : tensor<4xf32>
  // CHECK-NEXT: %[[N:.*]] = reprise.name %{{.*}} "hidden/1" : tensor<4xf32>
  %4 = reprise.name %3 "hidden/1" : tensor<4xf32>
  // CHECK-NEXT: %[[H:.*]] = reprise.offload %[[N]] {replay = 1 : i64} : tensor<4xf32>
  %5 = reprise.offload %4 {replay = 1 : i64} : tensor<4xf32>
  // CHECK-NEXT: %[[L:.*]] = reprise.pause(%[[H]], %{{.*}}) then(%{{.*}}) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %6 = reprise.pause (%5, %4) then (%x) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: reprise.pause() then() : () -> ()
  reprise.pause () then () : () -> ()
  // CHECK-NEXT: return %[[L]]
  return %6 : tensor<4xf32>
}

// CHECK-LABEL: func private @loss(
func.func private @loss(%x: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<f32>, tensor<f32>) {
  %0 = reprise.mul %x, %w : tensor<4xf32>
  %1 = reprise.mean %0 dims [0] : (tensor<4xf32>) -> tensor<f32>
  return %1, %1 : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: func @symbols(
func.func @symbols(%x: tensor<4xf32>, %w: tensor<4xf32>) {
  // CHECK-NEXT: reprise.value_and_grad @loss(%{{.*}}, %{{.*}}) wrt [1] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<f32>, tensor<f32>, tensor<4xf32>)
  %0:3 = reprise.value_and_grad @loss(%x, %w) wrt [1] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<f32>, tensor<f32>, tensor<4xf32>)
  // CHECK-NEXT: reprise.value_and_grad @loss(%{{.*}}, %{{.*}}) wrt [1, 0] of [0, 1] {note = "x"} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<f32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  %1:6 = reprise.value_and_grad @loss(%x, %w) wrt [1, 0] of [0, 1] {note = "x"} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<f32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  // CHECK-NEXT: reprise.value_and_grad @loss(%{{.*}}, %{{.*}}) wrt [] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<f32>, tensor<f32>)
  %2:2 = reprise.value_and_grad @loss(%x, %w) wrt [] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<f32>, tensor<f32>)
  return
}

// CHECK-LABEL: func @bodies(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
func.func @bodies(%x: tensor<4xf32>) {
  // CHECK-NEXT: reprise.value_and_grad (%[[Y:.*]] = %[[X]]) wrt [0] : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
  %0:2 = reprise.value_and_grad (%y = %x) wrt [0] : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
    // The body reads from above, too.
    // CHECK-NEXT: reprise.mul %[[Y]], %[[X]]
    %1 = reprise.mul %y, %x : tensor<4xf32>
    %2 = reprise.sum %1 dims [0] : (tensor<4xf32>) -> tensor<f32>
    // CHECK: reprise.yield
    reprise.yield %2 : tensor<f32>
  // CHECK-NEXT: } {note = "x"}
  } {note = "x"}
  // CHECK-NEXT: reprise.value_and_grad () wrt [] of [1] : () -> (tensor<f32>, tensor<f32>) {
  %3:2 = reprise.value_and_grad () wrt [] of [1] : () -> (tensor<f32>, tensor<f32>) {
    reprise.yield %0#0, %0#0 : tensor<f32>, tensor<f32>
  }
  return
}

// CHECK-LABEL: func @entry(
// CHECK-SAME: reprise.batch_dim = 0 : i64, reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>, reprise.name = "x", reprise.role = "input"
// CHECK-SAME: reprise.init = #reprise.uniform_int<-3, 10>
// CHECK-SAME: reprise.init = #reprise.uniform<-5.000000e-01, 5.000000e-01>
// CHECK-SAME: reprise.init = #reprise.fill<1.000000e-01>
// CHECK-SAME: reprise.init = #reprise.fill<0x7FF0000000000000>
// CHECK-SAME: reprise.init = #reprise.fill<-3.000000e+00>
// CHECK-SAME: reprise.role = "seed"
// CHECK-SAME: reprise.role = "offset"
// CHECK-SAME: reprise.role = "step"
// CHECK-SAME: -> (tensor<f32> {reprise.name = "loss"})
func.func @entry(
    %x: tensor<8x4xf32> {reprise.role = "input", reprise.name = "x", reprise.batch_dim = 0 : i64, reprise.init = #reprise.normal<0, 1>},
    %labels: tensor<8xi32> {reprise.role = "input", reprise.name = "labels", reprise.init = #reprise.uniform_int<-3, 10>},
    %w: tensor<4xf32> {reprise.role = "parameter", reprise.name = "w", reprise.init = #reprise.uniform<-0.5, 0.5>},
    %b: tensor<f32> {reprise.role = "state", reprise.name = "beta", reprise.init = #reprise.fill<0.1>},
    %i: tensor<f32> {reprise.role = "state", reprise.name = "infinite", reprise.init = #reprise.fill<0x7FF0000000000000>},
    %m: tensor<i32> {reprise.role = "state", reprise.name = "minus", reprise.init = #reprise.fill<-3>},
    %seed: tensor<i64> {reprise.role = "seed", reprise.name = "seed"},
    %offset: tensor<i64> {reprise.role = "offset", reprise.name = "offset"},
    %step: tensor<i64> {reprise.role = "step", reprise.name = "step"}) -> (tensor<f32> {reprise.name = "loss"}) {
  return %b : tensor<f32>
}

// A derivative of its own reads values from above.
// CHECK-LABEL: func.func @custom_vjp
func.func @custom_vjp(%x: tensor<4xf32>, %w: tensor<4xf32>, %i: tensor<4xi32>) -> tensor<4xf32> {
  %p = reprise.mul %x, %w : tensor<4xf32>
  // CHECK: %[[Y:.*]]:2 = reprise.custom_vjp %{{.*}}, %arg2 wrt %arg0, %arg1 {
  // CHECK: ^bb0(%[[D:.*]]: tensor<4xf32>):
  // CHECK: reprise.yield
  // CHECK: } : tensor<4xf32>, tensor<4xi32> wrt tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>, tensor<4xi32>
  %y:2 = reprise.custom_vjp %p, %i wrt %x, %w {
  ^bb0(%d: tensor<4xf32>):
    %dx = reprise.mul %d, %w : tensor<4xf32>
    %dw = reprise.mul %d, %x : tensor<4xf32>
    reprise.yield %dx, %dw : tensor<4xf32>, tensor<4xf32>
  } : tensor<4xf32>, tensor<4xi32> wrt tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>, tensor<4xi32>
  return %y#0 : tensor<4xf32>
}

// CHECK-LABEL: func @pulls
func.func @pulls() -> tensor<4xf32> {
  // CHECK: reprise.pull from @other tag 3 : tensor<4xf32>
  %0 = reprise.pull from @other tag 3 : tensor<4xf32>
  // CHECK: reprise.pull from @other tag 3 {replay = 2 : i64} : tensor<4xf32>
  %1 = reprise.pull from @other tag 3 {replay = 2 : i64} : tensor<4xf32>
  %2 = reprise.add %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
