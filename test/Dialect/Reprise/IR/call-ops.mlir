// Calls of functions of the host read back as they were written, and equal calls are merged.
// RUN: reprise-opt %s | reprise-opt | FileCheck %s
// RUN: reprise-opt %s --mlir-print-op-generic | reprise-opt | FileCheck %s
// RUN: reprise-opt %s --emit-bytecode | reprise-opt | FileCheck %s
// RUN: reprise-opt %s --cse | FileCheck %s --check-prefix=CSE

// CHECK-LABEL: func @calls(
// CSE-LABEL: func @calls(
func.func @calls(%x: tensor<8xf32>, %n: tensor<4xi32>) -> (tensor<5x2xf32>, tensor<i1>, tensor<i1>) {
  // CHECK-NEXT: %[[Y:.*]] = reprise.custom_call "torch:rfft"(%{{.*}}) {seconds = array<f64: 1.000000e-05, 3.000000e-05>, workspace = array<i64: 512>} : (tensor<8xf32>) -> tensor<5x2xf32>
  %0 = reprise.custom_call "torch:rfft"(%x) {seconds = array<f64: 1.0e-5, 3.0e-5>, workspace = array<i64: 512>} : (tensor<8xf32>) -> tensor<5x2xf32>
  // CHECK-NEXT: %{{.*}}:2 = reprise.custom_call "host:two results"(%[[Y]], %{{.*}}) : (tensor<5x2xf32>, tensor<4xi32>) -> (tensor<i1>, tensor<2xf64>)
  // CSE: reprise.custom_call "host:two results"
  // CSE-NOT: reprise.custom_call "host:two results"
  %1:2 = reprise.custom_call "host:two results"(%0, %n) : (tensor<5x2xf32>, tensor<4xi32>) -> (tensor<i1>, tensor<2xf64>)
  %2:2 = reprise.custom_call "host:two results"(%0, %n) : (tensor<5x2xf32>, tensor<4xi32>) -> (tensor<i1>, tensor<2xf64>)
  // CHECK: reprise.custom_call "host:none"() : () -> tensor<2xbf16>
  // CSE-NOT: host:none
  %3 = reprise.custom_call "host:none"() : () -> tensor<2xbf16>
  return %0, %1#0, %2#0 : tensor<5x2xf32>, tensor<i1>, tensor<i1>
}
