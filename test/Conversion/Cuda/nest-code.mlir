// The code of a kernel on a GPU follows from the nest and its schedule.
// RUN: reprise-opt %s --exec-emit-nests=target=cuda:sm_90 | FileCheck %s
// RUN: reprise-opt %s --exec-emit-nests="target=cuda:sm_90 lower" | FileCheck %s --check-prefix=NVVM

// Eight threads share a row: three exchanges for each of four lanes, and one thread of the eight stores.
// CHECK-LABEL: gpu.func @short(
// CHECK-SAME: known_block_size = array<i32: 128, 1, 1>, nvvm.minctasm = 2 : i32
// CHECK-NOT: cp.async
// CHECK-COUNT-12: gpu.shuffle xor
// CHECK-NOT: gpu.shuffle
// NVVM-LABEL: llvm.func @short(
// NVVM: nvvm.shfl.sync bfly
nest.program @short elements 2624 shared 0 {
  nest.kernel rows(%i = 41) columns(%j = 64) buffers(%x = input 0, %y = output 0)
      schedule <width = 4, rows = 1, columns = 64, threads = 8, block = 128, together = 2> {
    %0 = nest.read %x[%i * 64 + %j] : tensor<f32>
    %1 = nest.reduce sum %0 : tensor<f32>
    nest.store rows %1, %y : tensor<f32>
  }
}

// A warp brings a long row to shared memory, waits, and has one lane per thread.
// CHECK-LABEL: gpu.func @long(
// CHECK: nvvm.cp.async.shared.global {{.*}}, 16
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: nvvm.bar.warp.sync
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK-NOT: gpu.shuffle
// NVVM-LABEL: llvm.func @long(
// NVVM: nvvm.cp.async.shared.global
nest.program @long elements 4000 shared 0 {
  nest.kernel rows(%i = 4) columns(%j = 1000) buffers(%x = input 0, %y = output 0)
      schedule <width = 4, rows = 1, columns = 1000, threads = 32, block = 256, together = 3, memory = all> {
    %0 = nest.read %x[%i * 1000 + %j] : tensor<f32>
    %1 = nest.reduce max %0 : tensor<f32>
    %2 = reprise.sub %0, %1 : tensor<f32>
    nest.store elements %2, %y : tensor<f32>
  }
}

// Without memory, a row is read again from where it lies.
// CHECK-LABEL: gpu.func @again(
// CHECK-NOT: cp.async
// CHECK: llvm.load {{.*}} -> f32
nest.program @again elements 4000 shared 0 {
  nest.kernel rows(%i = 4) columns(%j = 1000) buffers(%x = input 0, %y = output 0)
      schedule <width = 4, rows = 1, columns = 1000, threads = 32, block = 256, together = 2> {
    %0 = nest.read %x[%i * 1000 + %j] : tensor<f32>
    %1 = nest.reduce max %0 : tensor<f32>
    %2 = reprise.sub %0, %1 : tensor<f32>
    nest.store elements %2, %y : tensor<f32>
  }
}
