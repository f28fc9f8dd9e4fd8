// The bodies of loops that read rows of each other are planned like one step; what is saved is a stack.
// RUN: reprise-opt %s --reprise-to="checkpoint entry=f policies=recompute-all" | FileCheck %s --check-prefixes=CHECK,REPLAY
// RUN: reprise-opt %s --reprise-to="checkpoint entry=f policies=save-all" | FileCheck %s --check-prefixes=CHECK,SAVE
// RUN: reprise-opt %s --reprise-to="checkpoint entry=f policies=recompute-all unroll" | FileCheck %s --check-prefix=UNROLL

// Four ops of the body, in each of three iterations; the carry is kept.
// CHECK-LABEL: reprise.program @f devices [0] (
// CHECK-SAME: %[[X:[^:]*]]: tensor<16xf32> {{.*}}, %[[W:[^:]*]]: tensor<3x16xf32>
// REPLAY-SAME: reprise.replayed_ops = 12 : i64, reprise.saved_bytes = 192 : i64
// SAVE-SAME: reprise.replayed_ops = 0 : i64

// Unrolled, the first carry is the argument itself.
// UNROLL: reprise.replayed_ops = 12 : i64, reprise.saved_bytes = 128 : i64
// UNROLL-NOT: reprise.loop
func.func @f(%x: tensor<16xf32> {reprise.role = "input"}, %w: tensor<3x16xf32>) -> tensor<3x16xf32> {
  // Nothing of the body but the carry is stacked.
  // REPLAY: %[[F:.*]]:2 = reprise.loop 3 (%[[C:.*]] = %[[X]])
  // REPLAY: reprise.yield %{{.*}}, %[[C]] :
  // REPLAY: } {{{.*}}reprise.decisions = [#reprise.decision<"not needed">, #reprise.decision<saved>]
  // REPLAY: %[[R:.*]]:2 = reprise.loop 3 (%[[D:.*]] = %{{.*}}) over (%[[OFFSET:.*]] = %{{.*}}, %[[RW:.*]] = %[[W]], %[[RC:.*]] = %[[F]]#1) reverse
  // REPLAY: %[[M:.*]] = reprise.mul %[[RC]], %[[RW]] {replay = 1
  // REPLAY: %[[E:.*]] = reprise.exp %[[M]] {replay = 1
  // The words of the same iteration.
  // REPLAY: reprise.dropout %{{.*}} offset %[[OFFSET]] {{.*}}replay = 1
  // SAVE: reprise.loop 3
  // SAVE: } {{{.*}}reprise.decisions = [#reprise.decision<"not needed">, #reprise.decision<saved>, #reprise.decision<saved>, #reprise.decision<saved>, #reprise.decision<saved>]
  // SAVE-NOT: replay = 1
  %0:2 = reprise.value_and_grad (%v = %w) wrt [0] : (tensor<3x16xf32>) -> (tensor<f32>, tensor<3x16xf32>) {
    %h = reprise.loop 3 (%c = %x) over (%s = %v) : (tensor<16xf32>, tensor<3x16xf32>) -> tensor<16xf32> {
      %m = reprise.mul %c, %s : tensor<16xf32>
      %e = reprise.exp %m : tensor<16xf32>
      %t = reprise.tanh %e : tensor<16xf32>
      %d = reprise.dropout %t {rate = 0.5 : f64} : tensor<16xf32>
      %y = reprise.mul %d, %t : tensor<16xf32>
      reprise.yield %y : tensor<16xf32>
    }
    %l = reprise.sum %h dims [0] : (tensor<16xf32>) -> tensor<f32>
    reprise.yield %l : tensor<f32>
  }
  return %0#1 : tensor<3x16xf32>
}
