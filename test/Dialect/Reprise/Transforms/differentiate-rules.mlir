// RUN: reprise-opt --reprise-differentiate --split-input-file %s | FileCheck %s

// Every gradient of a contraction is one contraction, without a transpose.
// CHECK-LABEL: func @should_contract_without_transposes
// CHECK-NOT: reprise.transpose
// CHECK: reprise.dot_general %[[GA:.*]], %arg1 contracting [2] x [0] {{.*}} : (tensor<2x3x5xf32>, tensor<5x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: reprise.dot_general %[[GA]], %arg0 contracting [0, 1] x [0, 1] {{.*}} : (tensor<2x3x5xf32>, tensor<2x3x4xf32>) -> tensor<5x4xf32>
// CHECK: reprise.dot_general %[[GB:.*]], %arg2 contracting [2] x [1] {{.*}} : (tensor<2x3x5xf32>, tensor<4x5xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: reprise.dot_general %arg0, %[[GB]] contracting [0, 1] x [0, 1] {{.*}} : (tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> tensor<4x5xf32>
// CHECK: reprise.dot_general %[[GC:.*]], %arg0 batch [0] x [0] contracting [2] x [1] {{.*}} -> tensor<2x3x4xf32>
// CHECK-NEXT: reprise.dot_general %[[GC]], %arg0 batch [0] x [0] contracting [1] x [1] {{.*}} -> tensor<2x3x4xf32>
func.func @should_contract_without_transposes(%x: tensor<2x3x4xf32>, %v: tensor<5x4xf32>, %w: tensor<4x5xf32>)
    -> (tensor<2x3x4xf32>, tensor<5x4xf32>, tensor<4x5xf32>) {
  %l, %g:3 = reprise.value_and_grad (%a = %x, %b = %v, %c = %w) wrt [0, 1, 2] : (tensor<2x3x4xf32>, tensor<5x4xf32>, tensor<4x5xf32>)
      -> (tensor<f32>, tensor<2x3x4xf32>, tensor<5x4xf32>, tensor<4x5xf32>) {
    %0 = reprise.dot_general %a, %a batch [0] x [0] contracting [2] x [2] : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x3xf32>
    %1 = reprise.dot_general %a, %c contracting [2] x [0] : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>
    %2 = reprise.dot_general %a, %b contracting [2] x [1] : (tensor<2x3x4xf32>, tensor<5x4xf32>) -> tensor<2x3x5xf32>
    %3 = reprise.sum %0 dims [0, 1, 2] : (tensor<2x3x3xf32>) -> tensor<f32>
    %4 = reprise.sum %1 dims [0, 1, 2] : (tensor<2x3x5xf32>) -> tensor<f32>
    %5 = reprise.sum %2 dims [0, 1, 2] : (tensor<2x3x5xf32>) -> tensor<f32>
    %6 = reprise.add %3, %4 : tensor<f32>
    %7 = reprise.add %6, %5 : tensor<f32>
    reprise.yield %7 : tensor<f32>
  }
  return %g#0, %g#1, %g#2 : tensor<2x3x4xf32>, tensor<5x4xf32>, tensor<4x5xf32>
}

// -----

// The cotangents of the 16-bit parameter are formed and added in f32 and rounded once; those of other values are 16-bit.
// CHECK-LABEL: func @should_round_the_cotangent_of_a_parameter_once
// CHECK-SAME: (%[[X:.*]]: tensor<4x3xbf16>, %[[W:.*]]: tensor<3x2xbf16>)
// CHECK: %[[H:.*]] = reprise.tanh
// CHECK: %[[LAST:.*]] = reprise.dot_general %[[H]], %{{.*}} contracting [0] x [0] {{.*}} -> tensor<3x2xf32>
// CHECK: %[[FIRST:.*]] = reprise.dot_general %[[X]], %{{.*}} contracting [0] x [0] {{.*}} -> tensor<3x2xf32>
// CHECK-NEXT: %[[SUM:.*]] = reprise.add %[[LAST]], %[[FIRST]] {{.*}} : tensor<3x2xf32>
// CHECK-NEXT: %[[G:.*]] = reprise.cast %[[SUM]] {reprise.block = array<i64: 4>, reprise.cotangent, {{.*}}} : tensor<3x2xf32> to tensor<3x2xbf16>
// CHECK-NEXT: return %[[G]]
func.func @should_round_the_cotangent_of_a_parameter_once(%x: tensor<4x3xbf16>, %w: tensor<3x2xbf16>) -> tensor<3x2xbf16> {
  %l, %g = reprise.value_and_grad (%a = %x, %b = %w) wrt [1] : (tensor<4x3xbf16>, tensor<3x2xbf16>) -> (tensor<bf16>, tensor<3x2xbf16>) {
    %0 = reprise.dot_general %a, %b contracting [1] x [0] {reprise.block = array<i64: 4>} : (tensor<4x3xbf16>, tensor<3x2xbf16>) -> tensor<4x2xbf16>
    %1 = reprise.pad %0 with 0.0 : bf16 low [0, 0] high [0, 1] interior [0, 0] : (tensor<4x2xbf16>) -> tensor<4x3xbf16>
    %2 = reprise.tanh %1 : tensor<4x3xbf16>
    %3 = reprise.dot_general %2, %b contracting [1] x [0] : (tensor<4x3xbf16>, tensor<3x2xbf16>) -> tensor<4x2xbf16>
    %4 = reprise.sum %3 dims [0, 1] : (tensor<4x2xbf16>) -> tensor<bf16>
    reprise.yield %4 : tensor<bf16>
  }
  return %g : tensor<3x2xbf16>
}

// -----

// So are those that come through another shape of the parameter.
// CHECK-LABEL: func @should_round_once_through_another_shape
// CHECK-SAME: (%[[X:.*]]: tensor<3x2xbf16>, %[[B:.*]]: tensor<1x2xbf16>)
// CHECK: %[[SUM:.*]] = reprise.sum %{{.*}} dims [0] {{.*}}: (tensor<3x2xf32>) -> tensor<2xf32>
// CHECK-NEXT: %[[FIRST:.*]] = reprise.reshape %[[SUM]] {{.*}}: (tensor<2xf32>) -> tensor<1x2xf32>
// CHECK: %[[TOTAL:.*]] = reprise.add %{{.*}}, %[[FIRST]] {{.*}}: tensor<1x2xf32>
// CHECK: reprise.cast %[[TOTAL]] {{.*}}: tensor<1x2xf32> to tensor<1x2xbf16>
// CHECK-NEXT: return
func.func @should_round_once_through_another_shape(%x: tensor<3x2xbf16>, %bias: tensor<1x2xbf16>) -> tensor<1x2xbf16> {
  %l, %g = reprise.value_and_grad (%b = %bias) wrt [0] : (tensor<1x2xbf16>) -> (tensor<bf16>, tensor<1x2xbf16>) {
    %0 = reprise.reshape %b : (tensor<1x2xbf16>) -> tensor<2xbf16>
    %1 = reprise.broadcast %0 dims [1] : (tensor<2xbf16>) -> tensor<3x2xbf16>
    %2 = reprise.mul %x, %1 : tensor<3x2xbf16>
    %3 = reprise.sum %2 dims [0, 1] : (tensor<3x2xbf16>) -> tensor<bf16>
    %4 = reprise.exp %b : tensor<1x2xbf16>
    %5 = reprise.sum %4 dims [0, 1] : (tensor<1x2xbf16>) -> tensor<bf16>
    %6 = reprise.add %3, %5 : tensor<bf16>
    reprise.yield %6 : tensor<bf16>
  }
  return %g : tensor<1x2xbf16>
}

// -----

// What the rule reads is what has to be kept: the results of exp, tanh, sqrt, relu and softmax, not their operands.
// CHECK-LABEL: func @should_read_results_where_they_do
// CHECK: %[[E:.*]] = reprise.exp %arg0
// CHECK: %[[T:.*]] = reprise.tanh %[[E]]
// CHECK: %[[Q:.*]] = reprise.sqrt %[[T]]
// CHECK: %[[R:.*]] = reprise.relu %[[Q]]
// CHECK: %[[S:.*]] = reprise.softmax %[[R]]
// CHECK: reprise.mul %{{.*}}, %[[S]]
// CHECK: reprise.sub
// CHECK: reprise.mul %[[S]]
// CHECK: reprise.compare gt %[[R]]
// CHECK: reprise.div %{{.*}}, %[[Q]]
// CHECK: reprise.mul %[[T]], %[[T]]
// CHECK: reprise.mul %{{.*}}, %[[E]]
// CHECK-NEXT: return
func.func @should_read_results_where_they_do(%x: tensor<3xf32>) -> tensor<3xf32> {
  %l, %g = reprise.value_and_grad (%p = %x) wrt [0] : (tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>) {
    %e = reprise.exp %p : tensor<3xf32>
    %t = reprise.tanh %e : tensor<3xf32>
    %q = reprise.sqrt %t : tensor<3xf32>
    %r = reprise.relu %q : tensor<3xf32>
    %m = reprise.softmax %r : tensor<3xf32>
    %s = reprise.sum %m dims [0] : (tensor<3xf32>) -> tensor<f32>
    reprise.yield %s : tensor<f32>
  }
  return %g : tensor<3xf32>
}

// -----

// First order keeps attention whole; lse has no cotangent, so there is no dlse.
// CHECK-LABEL: func @should_emit_attention_backward
// CHECK: %[[OUT:.*]], %[[LSE:.*]] = reprise.attention
// CHECK: %[[G:.*]], %{{.*}}, %[[GV:.*]] = reprise.attention_backward %arg0, %arg1, %arg2, %[[OUT]], %[[LSE]], %{{[^ ]*}} seed %arg3 offset %arg4 {causal, rate = 1.000000e-01 : f64, {{.*}}scale = 5.000000e-01 : f64, stream = 2 : i64}
// CHECK-NEXT: return %[[G]], %[[GV]]
func.func @should_emit_attention_backward(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x5x4xf32>, %v: tensor<1x2x5x4xf32>, %seed: tensor<i64>, %offset: tensor<i64>)
    -> (tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32>) {
  %l, %g:2 = reprise.value_and_grad (%a = %q, %b = %v) wrt [0, 1] : (tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32>) -> (tensor<f32>, tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32>) {
    %out, %lse = reprise.attention %a, %k, %b seed %seed offset %offset {causal, scale = 0.5 : f64, rate = 0.1 : f64, stream = 2 : i64}
      : (tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>) -> (tensor<1x2x3x4xf32>, tensor<1x2x3xf32>)
    %s = reprise.sum %out dims [0, 1, 2, 3] : (tensor<1x2x3x4xf32>) -> tensor<f32>
    reprise.yield %s : tensor<f32>
  }
  return %g#0, %g#1 : tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32>
}
