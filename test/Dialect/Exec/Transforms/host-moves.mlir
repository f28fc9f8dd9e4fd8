// Where values go to the host and come back: as shortly as possible on a CPU, which copies when it is asked to, and far
// enough from each other on a GPU. Two values that wait at one time have two places there.
// RUN: reprise-opt %s --exec-form-launches="target=cpu" --exec-place-buffers="target=cpu" --exec-verify-buffers="target=cpu" | FileCheck %s --check-prefix=CPU
// RUN: reprise-opt %s --exec-form-launches="target=cuda:sm_90" --exec-place-buffers="target=cuda:sm_90" --exec-verify-buffers="target=cuda:sm_90" | FileCheck %s --check-prefix=GPU
// RUN: reprise-opt %s --exec-form-launches="target=cuda:sm_90" --exec-place-buffers="target=cuda:sm_90 enough=64" --exec-verify-buffers="target=cuda:sm_90" | FileCheck %s --check-prefix=CPU

// CPU-LABEL: reprise.program @step devices [0] (
// CPU-SAME: exec.host_bytes = 128 : i64
// CPU: %[[A:.*]] = exec.launch
// CPU: %[[H:.*]], %[[LEFT:.*]] = exec.offload %[[A]] {place = [[P:.*]] : i64} : tensor<16xf32>
// CPU: %[[B:.*]] = exec.launch ({{.*}} = %[[A]]
// CPU: exec.wait %[[LEFT]]
// CPU: %[[V:.*]], %[[THERE:.*]] = exec.fetch %[[H]]
// CPU-NEXT: exec.wait %[[THERE]]
// CPU-NEXT: exec.launch ({{.*}} = %[[V]]

// GPU-LABEL: reprise.program @step devices [0] (
// GPU: exec.offload
// GPU-COUNT-3: exec.launch
// GPU: exec.wait
// GPU: exec.fetch
// GPU: exec.launch
// GPU: exec.wait
reprise.program @step devices [0] (%x: tensor<16xf32>) -> tensor<16xf32> {
  %a = reprise.cumsum %x dim 0 {reprise.primal} : tensor<16xf32>
  %w = reprise.offload %a {reprise.primal} : tensor<16xf32>
  %b = reprise.cumsum %w dim 0 {reprise.primal} : tensor<16xf32>
  %u = reprise.offload %b {reprise.primal} : tensor<16xf32>
  %c = reprise.cumsum %u dim 0 {reprise.primal} : tensor<16xf32>
  %d = reprise.cumsum %c dim 0 {reprise.cotangent} : tensor<16xf32>
  %e = reprise.cumsum %d dim 0 {reprise.cotangent} : tensor<16xf32>
  %f = reprise.cumsum %e dim 0 {reprise.cotangent} : tensor<16xf32>
  %again = reprise.offload %b {replay = 1 : i64} : tensor<16xf32>
  %g = reprise.mul %f, %again {reprise.cotangent} : tensor<16xf32>
  %h = reprise.cumsum %g dim 0 {reprise.cotangent} : tensor<16xf32>
  %first = reprise.offload %a {replay = 1 : i64} : tensor<16xf32>
  %i = reprise.mul %h, %first {reprise.cotangent} : tensor<16xf32>
  reprise.return %i : tensor<16xf32>
}
