// How the threads of a GPU share a kernel.
// RUN: reprise-opt %s -split-input-file --exec-form-launches --exec-form-nests=target=cuda:sm_90 | FileCheck %s

// A thread has four neighbours, or one element.
// CHECK-LABEL: nest.program @mul_1
// CHECK: schedule <width = 4, rows = 1, columns = 4, threads = 1, block = 256, together = 2>
// CHECK-LABEL: nest.program @mul_2
// CHECK: schedule <width = 1, rows = 1, columns = 1, threads = 1, block = 256, together = 2>
reprise.program @elements devices [0] (%x: tensor<60x100xf32>, %y: tensor<7x9xf64>) -> (tensor<60x100xf32>, tensor<7x9xf64>) {
  %0 = reprise.mul %x, %x : tensor<60x100xf32>
  %1 = reprise.mul %y, %y : tensor<7x9xf64>
  reprise.return %0, %1 : tensor<60x100xf32>, tensor<7x9xf64>
}

// -----

// Eight threads have a short row, four elements each at a time, or one where rows are not aligned.
// CHECK-LABEL: nest.program @softmax_1
// CHECK: schedule <width = 4, rows = 1, columns = 32, threads = 8, block = 256, together = 2>
// CHECK-LABEL: nest.program @softmax_2
// CHECK: schedule <width = 1, rows = 1, columns = 10, threads = 8, block = 256, together = 2>
// CHECK-LABEL: nest.program @softmax_3
// CHECK: schedule <width = 4, rows = 1, columns = 128, threads = 8, block = 256, together = 2>
reprise.program @rows devices [0] (%x0: tensor<41x32xf32>, %x1: tensor<41x10xf32>, %x2: tensor<41x128xf32>)
    -> (tensor<41x32xf32>, tensor<41x10xf32>, tensor<41x128xf32>) {
  %0 = reprise.softmax %x0 : tensor<41x32xf32>
  %1 = reprise.softmax %x1 : tensor<41x10xf32>
  %2 = reprise.softmax %x2 : tensor<41x128xf32>
  reprise.return %0, %1, %2 : tensor<41x32xf32>, tensor<41x10xf32>, tensor<41x128xf32>
}

// -----

// A warp has a long row. A block has as many warps as have room for their rows in 48 KiB.
// CHECK-LABEL: nest.program @softmax_1
// CHECK: schedule <width = 1, rows = 1, columns = 129, threads = 32, block = 256, together = 3, memory = all>
// CHECK-LABEL: nest.program @softmax_2
// CHECK: schedule <width = 4, rows = 1, columns = 1000, threads = 32, block = 256, together = 3, memory = all>
// CHECK-LABEL: nest.program @softmax_3
// CHECK: schedule <width = 4, rows = 1, columns = 3072, threads = 32, block = 128, together = 4, memory = all>
// CHECK-LABEL: nest.program @softmax_4
// CHECK: schedule <width = 4, rows = 1, columns = 3000, threads = 32, block = 64, together = 4, memory = all>
reprise.program @rows devices [0] (%x0: tensor<41x129xf32>, %x1: tensor<40x1000xf32>, %x2: tensor<40x3072xf32>, %x3: tensor<7x3000xf64>)
    -> (tensor<41x129xf32>, tensor<40x1000xf32>, tensor<40x3072xf32>, tensor<7x3000xf64>) {
  %0 = reprise.softmax %x0 : tensor<41x129xf32>
  %1 = reprise.softmax %x1 : tensor<40x1000xf32>
  %2 = reprise.softmax %x2 : tensor<40x3072xf32>
  %3 = reprise.softmax %x3 : tensor<7x3000xf64>
  reprise.return %0, %1, %2, %3 : tensor<41x129xf32>, tensor<40x1000xf32>, tensor<40x3072xf32>, tensor<7x3000xf64>
}
