// A label broken through a view turns the verifier red; the untouched graph passes.
// RUN: reprise-opt %s --reprise-checkpoint -o %t.mlir
// RUN: reprise-opt %t.mlir --reprise-verify-checkpoint > %t.good.mlir

// The value, or its view, has got a MUST after the plan.
// RUN: sed '/reprise.exp/s/prefer_save/must_recompute/' %t.mlir | not reprise-opt --reprise-verify-checkpoint 2>&1 | FileCheck %s --check-prefix=BASE
// BASE: error: result 0 is kept against its label 'must_recompute' from op
// RUN: sed '/reprise.exp/s/prefer_save/must_recompute/; /reprise.exp/s/decision<saved>/decision<"not needed">/' %t.mlir | not reprise-opt --reprise-verify-checkpoint 2>&1 | FileCheck %s --check-prefix=UNTOLD
// UNTOLD: error: result 0 is decided 'not needed', but the backward pass reads a view of it
// RUN: sed '/reprise.exp/s/prefer_save/must_recompute/; /reprise.exp/s/decision<saved>/decision<kept>/; /reprise.exp/s/reasons = \["op"\]/reasons = [#reprise.reason<returned>]/' %t.mlir | not reprise-opt --reprise-verify-checkpoint 2>&1 | FileCheck %s --check-prefix=EXCUSE
// EXCUSE: error: result 0 is kept against its label 'must_recompute' from op
// RUN: sed '/reprise.slice/s/prefer_recompute/must_recompute/' %t.mlir | not reprise-opt --reprise-verify-checkpoint 2>&1 | FileCheck %s --check-prefix=VIEW
// VIEW: error: result 0 is kept and holds the memory of reprise.slice at {{.*}}, against its label 'must_recompute' from op
// RUN: sed '/reprise.cos/s/prefer_save/must_recompute/' %t.mlir | not reprise-opt --reprise-verify-checkpoint 2>&1 | FileCheck %s --check-prefix=PAD
// PAD: error: result 0 is kept and holds the memory of reprise.cos at {{.*}}, against its label 'must_recompute' from op

// A value that must go to the host stays on the device, for a view.
// RUN: sed '/reprise.offload/s/prefer_save/must_offload/' %t.mlir | not reprise-opt --reprise-verify-checkpoint 2>&1 | FileCheck %s --check-prefix=HOST
// HOST: error: result 0 is kept and holds the memory of reprise.offload at {{.*}}, against its label 'must_offload' from op

reprise.program @views devices [0] (%x: tensor<4xf32>, %dy: tensor<2x2xf32>, %dz: tensor<2xf32>, %dw: tensor<6xf32>)
    -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2x2xf32>, tensor<6xf32>) {
  %a = reprise.exp %x {reprise.primal, reprise.label = #reprise.label<prefer_save>, reprise.rule = "op"} : tensor<4xf32>
  %b = reprise.reshape %a {reprise.primal} : (tensor<4xf32>) -> tensor<2x2xf32>
  %c = reprise.sin %x {reprise.primal, reprise.label = #reprise.label<prefer_save>, reprise.rule = "op"} : tensor<4xf32>
  %d = reprise.slice %c from [0] to [2] by [1] {reprise.primal, reprise.label = #reprise.label<prefer_recompute>, reprise.rule = "op"} : (tensor<4xf32>) -> tensor<2xf32>
  %e = reprise.log %x {reprise.primal, reprise.label = #reprise.label<prefer_save>, reprise.rule = "op"} : tensor<4xf32>
  %f = reprise.offload %e {reprise.primal, reprise.label = #reprise.label<prefer_save>, reprise.rule = "op"} : tensor<4xf32>
  %g = reprise.reshape %f {reprise.primal} : (tensor<4xf32>) -> tensor<2x2xf32>
  %k = reprise.cos %x {reprise.primal, reprise.label = #reprise.label<prefer_save>, reprise.rule = "op"} : tensor<4xf32>
  %p = reprise.pad %k with 0.0 : f32 low [1] high [1] interior [0] {reprise.primal} : (tensor<4xf32>) -> tensor<6xf32>
  %h = reprise.mul %dy, %b {reprise.cotangent, reprise.order = 1 : i64} : tensor<2x2xf32>
  %i = reprise.mul %dz, %d {reprise.cotangent, reprise.order = 1 : i64} : tensor<2xf32>
  %j = reprise.mul %h, %g {reprise.cotangent, reprise.order = 1 : i64} : tensor<2x2xf32>
  %q = reprise.mul %dw, %p {reprise.cotangent, reprise.order = 1 : i64} : tensor<6xf32>
  reprise.return %h, %i, %j, %q : tensor<2x2xf32>, tensor<2xf32>, tensor<2x2xf32>, tensor<6xf32>
}
