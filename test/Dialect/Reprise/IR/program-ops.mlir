// RUN: reprise-opt %s | reprise-opt | FileCheck %s
// RUN: reprise-opt %s --mlir-print-op-generic | reprise-opt | FileCheck %s
// RUN: reprise-opt %s --emit-bytecode | reprise-opt | FileCheck %s

// CHECK-LABEL: reprise.program @train devices [0] (
// CHECK-SAME: %[[X:.*]]: tensor<4xf32> {reprise.name = "x", reprise.role = "input"}) -> (tensor<4xf32> {reprise.name = "y"}) attributes {reprise.entry = "whole"} {
// CHECK: %[[Y:.*]] = reprise.exp %[[X]]
// CHECK: reprise.return %[[Y]] : tensor<4xf32>
reprise.program @train devices [0] (%x: tensor<4xf32> {reprise.name = "x", reprise.role = "input"}) -> (tensor<4xf32> {reprise.name = "y"}) attributes {reprise.entry = "whole"} {
  %y = reprise.exp %x : tensor<4xf32>
  reprise.return %y : tensor<4xf32>
}

// Several devices may run one program.
// CHECK-LABEL: reprise.program @nothing devices [3, 1, 1023] () {
// CHECK-NEXT: reprise.return
reprise.program @nothing devices [3, 1, 1023] () {
  reprise.return
}
