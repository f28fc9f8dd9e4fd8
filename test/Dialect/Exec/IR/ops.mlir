// RUN: reprise-opt %s -split-input-file -verify-diagnostics | reprise-opt -split-input-file | FileCheck %s
// RUN: reprise-opt %s -split-input-file -verify-diagnostics --emit-bytecode -o /dev/null

// CHECK-LABEL: @launch
// CHECK: exec.launch (%[[A:.*]] = %arg0) : (tensor<8xf32>) -> tensor<8xf32> {
// CHECK: reprise.add %[[A]], %[[A]]
// CHECK: exec.return
// CHECK: } {arguments = array<i64: -1>, offsets = array<i64: 64>}
func.func @launch(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = exec.launch (%a = %x) : (tensor<8xf32>) -> tensor<8xf32> {
    %1 = reprise.add %a, %a : tensor<8xf32>
    exec.return %1 : tensor<8xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 64>}
  return %0 : tensor<8xf32>
}

// -----

// CHECK-LABEL: @draws
// CHECK: reprise.dropout %{{.*}} {{{.*}}stream = 1 : i64}
// CHECK: } {streams = array<i64: 4, 7>}
func.func @draws(%x: tensor<8xf32>, %s: tensor<i64>) -> tensor<8xf32> {
  %0 = exec.launch (%a = %x, %b = %s) : (tensor<8xf32>, tensor<i64>) -> tensor<8xf32> {
    %1 = reprise.dropout %a seed %b offset %b {rate = 0.5, stream = 1 : i64} : tensor<8xf32>
    exec.return %1 : tensor<8xf32>
  } {streams = array<i64: 4, 7>}
  return %0 : tensor<8xf32>
}

// -----

func.func @wrong_stream(%x: tensor<8xf32>, %s: tensor<i64>) -> tensor<8xf32> {
  %0 = exec.launch (%a = %x, %b = %s) : (tensor<8xf32>, tensor<i64>) -> tensor<8xf32> {
    // expected-error@below {{expected 'stream' below 1, the number of 'streams' of its launch, got 4}}
    %1 = reprise.dropout %a seed %b offset %b {rate = 0.5, stream = 4 : i64} : tensor<8xf32>
    exec.return %1 : tensor<8xf32>
  } {streams = array<i64: 4>}
  return %0 : tensor<8xf32>
}

// -----

// CHECK-LABEL: @copy
// CHECK: exec.copy %arg0 into 1 : tensor<8xf32>
func.func @copy(%x: tensor<8xf32>, %w: tensor<8xf32>) {
  exec.copy %x into 1 : tensor<8xf32>
  return
}

// -----

func.func @types(%x: tensor<8xf32>) {
  // expected-error@below {{expected a body that returns values of the results' types}}
  %0 = exec.launch (%a = %x) : (tensor<8xf32>) -> tensor<4xf32> {
    exec.return %a : tensor<8xf32>
  }
  return
}

// -----

func.func @places(%x: tensor<8xf32>) {
  // expected-error@below {{expected one place per result}}
  %0 = exec.launch (%a = %x) : (tensor<8xf32>) -> tensor<8xf32> {
    exec.return %a : tensor<8xf32>
  } {arguments = array<i64: -1, -1>, offsets = array<i64: 64>}
  return
}

// -----

func.func @half(%x: tensor<8xf32>) {
  // expected-error@below {{expected 'arguments' and 'offsets' together}}
  %0 = exec.launch (%a = %x) : (tensor<8xf32>) -> tensor<8xf32> {
    exec.return %a : tensor<8xf32>
  } {offsets = array<i64: 64>}
  return
}
