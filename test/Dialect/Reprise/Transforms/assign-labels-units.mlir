// RUN: reprise-opt %s --reprise-assign-labels --split-input-file | FileCheck %s
// RUN: reprise-opt %s --reprise-assign-labels=policies=recompute-all --split-input-file | FileCheck %s --check-prefix=CUT

// Where something is differentiated, blocks and the runs between them get ids in program order;
// value_and_grad itself ends a run. Elsewhere only blocks do. The paths of nested blocks begin with
// the blocks around them, whose own ops form runs, too.

// CHECK-LABEL: func @units
func.func @units(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // CHECK: reprise.exp %arg0 : tensor<f32>
  %before = reprise.exp %x : tensor<f32>
  // CHECK: reprise.value_and_grad
  %y, %g = reprise.value_and_grad (%a = %before) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>) {
    // CHECK: reprise.constant
    // CHECK-NOT: reprise.block
    // CHECK: reprise.log {{.*}}reprise.block = array<i64: 0>
    %one = reprise.constant dense<1.0> : tensor<f32>
    %b = reprise.log %a : tensor<f32>
    // CHECK: reprise.add {{.*}}reprise.block = array<i64: 1, 2>
    // CHECK: reprise.tanh {{.*}}reprise.block = array<i64: 1, 3>
    // CHECK: reprise.sqrt {{.*}}reprise.block = array<i64: 1, 4>
    %c = reprise.block {
      %d = reprise.add %b, %one : tensor<f32>
      %e = reprise.block {
        %f = reprise.tanh %d : tensor<f32>
        reprise.yield %f : tensor<f32>
      } : tensor<f32>
      %h = reprise.sqrt %e : tensor<f32>
      reprise.yield %h : tensor<f32>
    } : tensor<f32>
    // CHECK: reprise.erf {{.*}}reprise.block = array<i64: 5>
    %i = reprise.erf %c : tensor<f32>
    // CHECK: reprise.neg {{.*}}reprise.block = array<i64: 6>
    // CHECK: reprise.abs {{.*}}reprise.block = array<i64: 6>
    %j = reprise.block {
      %k = reprise.neg %i : tensor<f32>
      %l = reprise.abs %k : tensor<f32>
      reprise.yield %l : tensor<f32>
    } : tensor<f32>
    reprise.yield %j : tensor<f32>
  }
  // CHECK: reprise.sigmoid {{.*}}reprise.block = array<i64: 7>
  %z = reprise.block {
    %m = reprise.sigmoid %y : tensor<f32>
    reprise.yield %m : tensor<f32>
  } : tensor<f32>
  // CHECK: reprise.exp {{%.*}} : tensor<f32>
  %after = reprise.exp %z : tensor<f32>
  // CHECK-NEXT: return
  return %after, %g : tensor<f32>, tensor<f32>
}

// -----

// Nine ops that are all to be recomputed become three units, cut where one small value crosses;
// a block stays one unit.

// CUT-LABEL: func @cut
func.func @cut(%x: tensor<8xf32>) -> (tensor<f32>, tensor<8xf32>) {
  %y, %g = reprise.value_and_grad (%a = %x) wrt [0] : (tensor<8xf32>) -> (tensor<f32>, tensor<8xf32>) {
    // CUT: reprise.exp {{.*}}reprise.block = array<i64: 0>
    // CUT: reprise.sum {{.*}}reprise.block = array<i64: 0>
    // CUT: reprise.log {{.*}}reprise.block = array<i64: 0>
    // CUT: reprise.broadcast {{.*}}reprise.block = array<i64: 1>
    // CUT: reprise.tanh {{.*}}reprise.block = array<i64: 1>
    // CUT: reprise.sum {{.*}}reprise.block = array<i64: 1>
    // CUT: reprise.neg {{.*}}reprise.block = array<i64: 2>
    // CUT: reprise.abs {{.*}}reprise.block = array<i64: 2>
    // CUT: reprise.sqrt {{.*}}reprise.block = array<i64: 2>
    %1 = reprise.exp %a : tensor<8xf32>
    %2 = reprise.sum %1 dims [0] : (tensor<8xf32>) -> tensor<f32>
    %3 = reprise.log %2 : tensor<f32>
    %4 = reprise.broadcast %3 dims [] : (tensor<f32>) -> tensor<8xf32>
    %5 = reprise.tanh %4 : tensor<8xf32>
    %6 = reprise.sum %5 dims [0] : (tensor<8xf32>) -> tensor<f32>
    %7 = reprise.neg %6 : tensor<f32>
    %8 = reprise.abs %7 : tensor<f32>
    %9 = reprise.sqrt %8 : tensor<f32>
    // CUT: reprise.erf {{.*}}reprise.block = array<i64: 3>
    // CUT: reprise.erf {{.*}}reprise.block = array<i64: 3>
    // CUT: reprise.erf {{.*}}reprise.block = array<i64: 3>
    // CUT: reprise.erf {{.*}}reprise.block = array<i64: 3>
    %block = reprise.block {
      %b = reprise.erf %9 : tensor<f32>
      %c = reprise.erf %b : tensor<f32>
      %d = reprise.erf %c : tensor<f32>
      %e = reprise.erf %d : tensor<f32>
      reprise.yield %e : tensor<f32>
    } : tensor<f32>
    reprise.yield %block : tensor<f32>
  }
  return %y, %g : tensor<f32>, tensor<8xf32>
}
