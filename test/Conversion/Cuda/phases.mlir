// What the phases ask of the target: the same ops, other launches and places.
// RUN: reprise-opt %s --exec-form-launches -split-input-file | FileCheck %s --check-prefix=CPU
// RUN: reprise-opt %s --exec-form-launches=target=cuda:sm_90 -split-input-file | FileCheck %s --check-prefix=CPU
// RUN: reprise-opt %s --exec-form-launches=target=cuda:sm_90:library -split-input-file | FileCheck %s --check-prefix=CUDA
// RUN: reprise-opt %s --pass-pipeline="builtin.module(reprise.program(exec-form-launches{target=cpu},exec-place-buffers{target=cpu},exec-verify-buffers{target=cpu}))" -split-input-file | FileCheck %s --check-prefix=CPU-PLACE
// RUN: reprise-opt %s --pass-pipeline="builtin.module(reprise.program(exec-form-launches{target=cuda:sm_90},exec-place-buffers{target=cuda:sm_90},exec-verify-buffers{target=cuda:sm_90}))" -split-input-file | FileCheck %s --check-prefix=CUDA-PLACE
// RUN: not reprise-opt %s --exec-place-buffers=target=tpu -split-input-file 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: error: unknown target 'tpu'

// Where a library contracts, what follows it has a kernel of its own.
// CPU-LABEL: @epilogue
// CPU: exec.launch
// CPU-NOT: exec.launch
// CPU: return
// CUDA-LABEL: @epilogue
// CUDA: exec.launch
// CUDA: reprise.dot_general
// CUDA-NEXT: exec.return
// CUDA: exec.launch
// CUDA: reprise.exp
reprise.program @epilogue devices [0] (%x: tensor<8x8xf16>) -> tensor<8x8xf16> {
  %0 = reprise.dot_general %x, %x contracting [1] x [0] : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16>
  %1 = reprise.exp %0 : tensor<8x8xf16>
  reprise.return %1 : tensor<8x8xf16>
}

// -----

// The last pass of a row reads %x again on a GPU, so %h, which the second pass stores, may not lie there. On a CPU a
// worker keeps %g from the first pass on.
// CPU-PLACE-LABEL: @rows
// CPU-PLACE: arguments = array<i64: 0, -1>
// CUDA-PLACE-LABEL: @rows
// CUDA-PLACE: arguments = array<i64: -1, -1>
reprise.program @rows devices [0] (%x: tensor<40x70xf32> {reprise.name = "x"})
    -> (tensor<40x70xf32> {reprise.name = "x"}, tensor<40x70xf32> {reprise.name = "y"}) {
  %g = reprise.gelu %x : tensor<40x70xf32>
  %m = reprise.max %g dims [1] : (tensor<40x70xf32>) -> tensor<40xf32>
  %above = reprise.broadcast %m dims [0] : (tensor<40xf32>) -> tensor<40x70xf32>
  %d = reprise.sub %g, %above : tensor<40x70xf32>
  %h = reprise.exp %d : tensor<40x70xf32>
  %s = reprise.sum %h dims [1] : (tensor<40x70xf32>) -> tensor<40xf32>
  %below = reprise.broadcast %s dims [0] : (tensor<40xf32>) -> tensor<40x70xf32>
  %q = reprise.div %h, %below : tensor<40x70xf32>
  %y = reprise.add %q, %g : tensor<40x70xf32>
  reprise.return %h, %y : tensor<40x70xf32>, tensor<40x70xf32>
}
