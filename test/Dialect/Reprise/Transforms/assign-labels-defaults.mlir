// RUN: reprise-opt %s --reprise-assign-labels | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: reprise-opt %s --reprise-assign-labels=policies=recompute-all,save-all | FileCheck %s --check-prefixes=CHECK,FIRST
// RUN: reprise-opt %s --reprise-assign-labels="policies=save-all ignore-checkpoints" | FileCheck %s --check-prefixes=CHECK,IGNORE

// Without a policy only discrete choices ask for something; any policy outranks them, and the first
// of several policies wins.

// CHECK-LABEL: func @defaults
func.func @defaults(%x: tensor<2x4xf32>) -> (tensor<2xi32>, tensor<2x4xi32>, tensor<2x2xi32>) {
  // CHECK: reprise.argmax
  // NONE-SAME: reprise.label = #reprise.label<prefer_save>, reprise.rule = "intrinsic"
  // FIRST-SAME: reprise.label = #reprise.label<prefer_recompute>, reprise.rule = "policy recompute-all"
  // IGNORE-SAME: reprise.label = #reprise.label<prefer_save>, reprise.rule = "policy save-all"
  %0 = reprise.argmax %x dim 1 : (tensor<2x4xf32>) -> tensor<2xi32>
  // A conversion chooses nothing.
  // NONE: reprise.cast %arg0 : tensor<2x4xf32>
  // FIRST: reprise.cast {{.*}}#reprise.label<prefer_recompute>
  // IGNORE: reprise.cast {{.*}}#reprise.label<prefer_save>
  %1 = reprise.cast %x : tensor<2x4xf32> to tensor<2x4xi32>
  // NONE: reprise.top_k {{.*}}#reprise.label<prefer_save>, reprise.rule = "intrinsic"
  // FIRST: reprise.top_k {{.*}}#reprise.label<prefer_recompute>
  // IGNORE: reprise.top_k {{.*}}#reprise.label<prefer_save>, reprise.rule = "policy save-all"
  %2, %3 = reprise.top_k %x : (tensor<2x4xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
  return %0, %1, %3 : tensor<2xi32>, tensor<2x4xi32>, tensor<2x2xi32>
}

// The positions of pooling ask for nothing.

// CHECK-LABEL: func @pools
func.func @pools(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x2x2xf32> {
  // NONE: reprise.max_pool %arg0 window [2, 2] strides [2, 2] low [0, 0] high [0, 0] :
  // FIRST: reprise.max_pool {{.*}}#reprise.label<prefer_recompute>
  // IGNORE: reprise.max_pool {{.*}}#reprise.label<prefer_save>, reprise.rule = "policy save-all"
  %0, %1 = reprise.max_pool %x window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : (tensor<1x1x4x4xf32>) -> (tensor<1x1x2x2xf32>, tensor<1x1x2x2xi32>)
  return %0 : tensor<1x1x2x2xf32>
}

// Ignored checkpoints stay blocks.

// CHECK-LABEL: func @ignored
func.func @ignored(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = reprise.checkpoint {
    // NONE: reprise.exp {{.*}}reprise.block = array<i64: 0>, reprise.label = #reprise.label<prefer_recompute>, reprise.rule = "checkpoint"
    // FIRST: reprise.exp {{.*}}reprise.block = array<i64: 0>, reprise.label = #reprise.label<prefer_recompute>, reprise.rule = "checkpoint"
    // IGNORE: reprise.exp {{.*}}reprise.block = array<i64: 0>, reprise.label = #reprise.label<prefer_save>, reprise.rule = "policy save-all"
    %a = reprise.exp %x : tensor<4xf32>
    reprise.yield %a : tensor<4xf32>
  } : tensor<4xf32>
  return %0 : tensor<4xf32>
}
