// RUN: reprise-opt %s --canonicalize --cse --reprise-assign-labels | FileCheck %s

// A name that nothing reads still labels its value: no clean-up before the label phase drops it.

// CHECK-LABEL: func @unread_name
func.func @unread_name(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: reprise.exp {{.*}}reprise.label = #reprise.label<must_save>, reprise.names = ["e"]
  %a = reprise.exp %x : tensor<4xf32>
  // CHECK-NOT: reprise.name
  %0 = reprise.name %a "e" {reprise.label = #reprise.label<must_save>} : tensor<4xf32>
  %b = reprise.tanh %a : tensor<4xf32>
  return %b : tensor<4xf32>
}

// The same inside a block, whose other results nobody reads.

// CHECK-LABEL: func @unread_name_in_block
func.func @unread_name_in_block(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = reprise.block {
    // CHECK: reprise.exp {{.*}}reprise.names = ["inner"]
    %a = reprise.exp %x : tensor<4xf32>
    %0 = reprise.name %a "inner" : tensor<4xf32>
    // CHECK: reprise.tanh
    %b = reprise.tanh %a : tensor<4xf32>
    reprise.yield %b : tensor<4xf32>
  } : tensor<4xf32>
  return %y : tensor<4xf32>
}
