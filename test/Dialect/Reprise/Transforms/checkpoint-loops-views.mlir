// Views that a replay reads in another loop.
// RUN: reprise-opt %s --reprise-to="checkpoint entry=stacked" | reprise-opt --pass-pipeline="builtin.module(reprise.program(reprise-verify-checkpoint))" | FileCheck %s --check-prefix=STACKED
// RUN: reprise-opt %s --reprise-to="checkpoint entry=around" | reprise-opt --pass-pipeline="builtin.module(reprise.program(reprise-verify-checkpoint))" | FileCheck %s --check-prefix=AROUND

// The sum is not kept, but the half of it that must be is.
// STACKED-LABEL: reprise.program @stacked
// STACKED: %[[HALF:.*]] = reprise.slice
// STACKED-SAME: reprise.decisions = [#reprise.decision<saved>]
// STACKED: reprise.yield %{{[^,]*}}, %[[HALF]] :
// STACKED: reverse
// STACKED-NOT: reprise.slice
// STACKED: reprise.exp %{{.*}} {replay = 1
func.func @stacked(%x: tensor<8xf32> {reprise.role = "input"}, %w: tensor<3x16xf32>) -> tensor<3x16xf32> {
  %0:2 = reprise.value_and_grad (%v = %w) wrt [0] : (tensor<3x16xf32>) -> (tensor<f32>, tensor<3x16xf32>) {
    %h = reprise.loop 3 (%c = %x) over (%s = %v) : (tensor<8xf32>, tensor<3x16xf32>) -> tensor<8xf32> {
      %m = reprise.add %s, %s {reprise.label = #reprise.label<must_recompute>} : tensor<16xf32>
      %p = reprise.slice %m from [0] to [8] by [1] {reprise.label = #reprise.label<must_save>} : (tensor<16xf32>) -> tensor<8xf32>
      %e = reprise.exp %p {reprise.label = #reprise.label<must_recompute>} : tensor<8xf32>
      %y = reprise.add %c, %e : tensor<8xf32>
      reprise.yield %y : tensor<8xf32>
    }
    %l = reprise.sum %h dims [0] : (tensor<8xf32>) -> tensor<f32>
    reprise.yield %l : tensor<f32>
  }
  return %0#1 : tensor<3x16xf32>
}

// What the inner loop's replays read is a view of a value of the outer body, whose plan comes later:
// there the sum is computed again for it.
// AROUND-LABEL: reprise.program @around
// AROUND: reprise.add %{{.*}} reprise.decisions = [#reprise.decision<replayed>], {{.*}}reprise.label = #reprise.label<must_recompute>
// AROUND: reverse
// AROUND: %[[SUM:.*]] = reprise.add {{.*}}replay =
// AROUND: %[[VIEW:.*]] = reprise.reshape %[[SUM]] {{.*}}reprise.cotangent
// AROUND: reprise.loop 4 {{.*}}%[[VIEW]]
// AROUND: reprise.exp %{{.*}} {replay =
func.func @around(%x: tensor<8xf32> {reprise.role = "input"}, %w: tensor<3x32xf32>) -> tensor<3x32xf32> {
  %0:2 = reprise.value_and_grad (%v = %w) wrt [0] : (tensor<3x32xf32>) -> (tensor<f32>, tensor<3x32xf32>) {
    %h = reprise.loop 3 (%c = %x) over (%s = %v) : (tensor<8xf32>, tensor<3x32xf32>) -> tensor<8xf32> {
      %m = reprise.add %s, %s {reprise.label = #reprise.label<must_recompute>} : tensor<32xf32>
      %r = reprise.reshape %m : (tensor<32xf32>) -> tensor<4x8xf32>
      %i = reprise.loop 4 (%d = %c) over (%t = %r) : (tensor<8xf32>, tensor<4x8xf32>) -> tensor<8xf32> {
        %e = reprise.exp %t {reprise.label = #reprise.label<must_recompute>} : tensor<8xf32>
        %y = reprise.add %d, %e : tensor<8xf32>
        reprise.yield %y : tensor<8xf32>
      }
      reprise.yield %i : tensor<8xf32>
    }
    %l = reprise.sum %h dims [0] : (tensor<8xf32>) -> tensor<f32>
    reprise.yield %l : tensor<f32>
  }
  return %0#1 : tensor<3x32xf32>
}
