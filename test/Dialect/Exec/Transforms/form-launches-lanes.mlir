// Kernels have no lanes: `partition` expands them.
// RUN: reprise-opt %s -verify-diagnostics --pass-pipeline='builtin.module(reprise.program(exec-form-launches))'

reprise.program @step devices [0] (%x: tensor<3x8xf32> {reprise.name = "x", reprise.role = "input"}) -> (tensor<3x3xf32> {reprise.name = "y"}) {
  // expected-error@+1 {{no kernel has lanes: run reprise-expand-lanes first}}
  %0 = reprise.dot_lanes %x, %x lanes 4 along 0 contracting [1] x [1] : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x3xf32>
  reprise.return %0 : tensor<3x3xf32>
}
