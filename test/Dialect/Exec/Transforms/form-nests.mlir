// Launches as loop nests on both targets, with their places and schedules.
// RUN: reprise-opt %s -split-input-file --exec-form-launches --exec-form-nests=target=cpu:x86-64-v3 | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: reprise-opt %s -split-input-file --exec-form-launches --exec-form-nests=target=cuda:sm_90 | FileCheck %s --check-prefixes=CHECK,GPU
// RUN: not reprise-opt %s -split-input-file --exec-form-nests=target=tpu 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: error: unknown target 'tpu'

// The bias does not vary with rows; seed, offset and stream vary with nothing.
// CHECK-LABEL: nest.program @gelu_1 elements 768 shared 0 {
// CHECK: nest.kernel rows(%r0 = 8) columns(%c0 = 96) buffers(%stream0 = stream 0, %in2 = input 2, %in3 = input 3, %in0 = input 0, %in1 = input 1, %out0 = output 0)
// CPU-SAME: schedule <width = 32, rows = 8, columns = 96>
// GPU-SAME: schedule <width = 4, rows = 1, columns = 4, threads = 1, block = 256, together = 1>
// CHECK: %0 = nest.read %stream0[0] : tensor<i64>
// CHECK: %1 = nest.read %in2[0] : tensor<i64>
// CHECK: %2 = nest.read %in3[0] : tensor<i64>
// CHECK: %3 = nest.read %in0[%r0 * 96 + %c0] : tensor<bf16>
// CHECK: %4 = nest.read %in1[%c0] : tensor<bf16>
// CHECK: %5 = reprise.add %3, %4 : tensor<bf16>
// CHECK: %6 = reprise.gelu %5 : tensor<bf16>
// CHECK: %7 = nest.draw[%r0 * 96 + %c0] stream %0 seed %1 offset %2 {
// CHECK: %8 = reprise.dropout %6 {rate = 1.000000e-01 : f64} : tensor<bf16>
// CHECK: nest.store elements %7, %out0 : tensor<bf16>
reprise.program @gelu_and_dropout devices [0] (%x: tensor<8x96xbf16>, %b: tensor<96xbf16>, %key: tensor<i64>, %from: tensor<i64>)
    -> tensor<8x96xbf16> {
  %0 = reprise.broadcast %b dims [1] : (tensor<96xbf16>) -> tensor<8x96xbf16>
  %1 = reprise.add %x, %0 : tensor<8x96xbf16>
  %2 = reprise.gelu %1 : tensor<8x96xbf16>
  %3 = reprise.dropout %2 seed %key offset %from {rate = 0.1 : f64, stream = 3 : i64} : tensor<8x96xbf16>
  reprise.return %3 : tensor<8x96xbf16>
}

// -----

// A row is reduced twice, the second time what the first reduction changed.
// CHECK-LABEL: nest.program @max_1 elements 2800 shared 0 {
// CHECK: nest.kernel rows(%r0 = 40) columns(%c0 = 70) strides [70, 1] buffers(%in0 = input 0, %out0 = output 0, %out1 = output 1)
// CPU-SAME: schedule <width = 32, rows = 40, columns = 70>
// GPU-SAME: schedule <width = 1, rows = 1, columns = 70, threads = 8, block = 256, together = 2>
// CHECK: %0 = nest.read %in0[%r0 * 70 + %c0] : tensor<f32>
// CHECK: %1 = nest.reduce max %0 : tensor<f32>
// CHECK: %2 = reprise.sub %0, %1 : tensor<f32>
// CHECK: nest.store elements %2, %out0 : tensor<f32>
// CHECK: %3 = nest.reduce sum %2 over 70 : tensor<f32>
// CHECK: nest.store rows %3, %out1 : tensor<f32>
reprise.program @rows devices [0] (%x: tensor<40x70xf32>) -> (tensor<40x70xf32>, tensor<40xf32>) {
  %m = reprise.max %x dims [1] : (tensor<40x70xf32>) -> tensor<40xf32>
  %0 = reprise.broadcast %m dims [0] : (tensor<40xf32>) -> tensor<40x70xf32>
  %d = reprise.sub %x, %0 : tensor<40x70xf32>
  %s = reprise.mean %d dims [1] : (tensor<40x70xf32>) -> tensor<40xf32>
  reprise.return %d, %s : tensor<40x70xf32>, tensor<40xf32>
}

// -----

// Blocks of 64 rows leave parts, which meet in a second kernel. A mean is divided there.
// CHECK-LABEL: nest.program @mean_1 elements 20000 shared 1600 {
// CHECK: nest.kernel outer(%o0 = 1) rows(%r0 = 200) columns(%c0 = 100) strides [0, 100, 1] buffers(%in0 = input 0, %shared0 = shared 0)
// CPU-SAME: schedule <width = 32, rows = 64, columns = 100>
// GPU-SAME: schedule <width = 4, rows = 64, columns = 4, threads = 1, block = 256, together = 2>
// CHECK: %0 = nest.read %in0[%r0 * 100 + %c0] : tensor<f32>
// CHECK: nest.store row_parts by sum %0, %shared0 : tensor<f32>
// CHECK: nest.kernel columns(%c0 = 100) buffers(%shared0 = shared 0, %out0 = output 0)
// CPU-SAME: schedule <width = 32, rows = 1, columns = 100>
// GPU-SAME: schedule <width = 1, rows = 1, columns = 1, threads = 1, block = 256, together = 2>
// CHECK: %0 = nest.meet sum %shared0[%c0] parts 4 by 100 over 200 : tensor<f32>
// CHECK: nest.store elements %0, %out0 : tensor<f32>
reprise.program @row_parts devices [0] (%x: tensor<200x100xf32>) -> tensor<100xf32> {
  %0 = reprise.mean %x dims [0] : (tensor<200x100xf32>) -> tensor<100xf32>
  reprise.return %0 : tensor<100xf32>
}

// -----

// Blocks of 4,096 columns of few rows leave parts.
// CHECK-LABEL: nest.program @prod_1 elements 300000 shared 300 {
// CHECK: nest.kernel rows(%r0 = 3) columns(%c0 = 100000) strides [100000, 1] buffers(%in0 = input 0, %shared0 = shared 0)
// CPU-SAME: schedule <width = 32, rows = 1, columns = 8192>
// GPU-SAME: schedule <width = 4, rows = 1, columns = 4096, threads = 32, block = 192, together = 4, memory = all>
// CHECK: %0 = nest.read %in0[%r0 * 100000 + %c0] : tensor<bf16>
// CHECK: nest.store column_parts by product %0, %shared0 : tensor<bf16>
// CHECK: nest.kernel columns(%c0 = 3) buffers(%shared0 = shared 0, %out0 = output 0)
// CPU-SAME: schedule <width = 4, rows = 1, columns = 3>
// GPU-SAME: schedule <width = 1, rows = 1, columns = 1, threads = 1, block = 256, together = 2>
// CHECK: %0 = nest.meet product %shared0[%c0] parts 25 by 3 : tensor<bf16>
// CHECK: nest.store elements %0, %out0 : tensor<bf16>
reprise.program @column_parts devices [0] (%x: tensor<3x100000xbf16>) -> tensor<3xbf16> {
  %0 = reprise.prod %x dims [1] : (tensor<3x100000xbf16>) -> tensor<3xbf16>
  reprise.return %0 : tensor<3xbf16>
}

// -----

// Few rows are reduced within an element.
// CHECK-LABEL: nest.program @sum_1 elements 700 shared 0 {
// CHECK: nest.kernel columns(%c0 = 70) buffers(%in0 = input 0, %out0 = output 0)
// CPU-SAME: schedule <width = 32, rows = 1, columns = 70>
// GPU-SAME: schedule <width = 1, rows = 1, columns = 1, threads = 1, block = 256, together = 2>
// CHECK: %0 = nest.sequence sum(%s0 = 5, %s1 = 2) {
// CHECK: %1 = nest.read %in0[%c0 + %s0 * 140 + %s1 * 70] : tensor<f32>
// CHECK: nest.yield %1 : tensor<f32>
// CHECK: nest.store elements %0, %out0 : tensor<f32>
reprise.program @sequence devices [0] (%x: tensor<5x2x70xf32>) -> tensor<70xf32> {
  %0 = reprise.sum %x dims [0, 1] : (tensor<5x2x70xf32>) -> tensor<70xf32>
  reprise.return %0 : tensor<70xf32>
}

// -----

// Places between the elements of a pad are chosen; a part of a concatenation begins where the other one ends.
// CHECK-LABEL: nest.program @pad_1 elements 9 shared 0 {
// CHECK: nest.kernel columns(%c0 = 9) buffers(%in0 = input 0, %out0 = output 0)
// CPU-SAME: schedule <width = 1, rows = 1, columns = 9>
// GPU-SAME: schedule <width = 1, rows = 1, columns = 1, threads = 1, block = 256, together = 2>
// CHECK: %0 = reprise.constant dense<5.000000e-01> : tensor<f32>
// CHECK: %1 = nest.quotient[%c0 + -1] by 2 below 4
// CHECK: %2 = nest.read %in0[%1] : tensor<f32>
// CHECK: %3 = nest.choose %2 if[%c0] in 1 to 8 step 2 else %0 : tensor<f32>
// CHECK: nest.store elements %3, %out0 : tensor<f32>
// CHECK-LABEL: nest.program @concatenate_2 elements 7 shared 0 {
// CHECK: nest.kernel columns(%c0 = 7) buffers(%in1 = input 1, %in0 = input 0, %out0 = output 0)
// CPU-SAME: schedule <width = 8, rows = 1, columns = 7>
// GPU-SAME: schedule <width = 1, rows = 1, columns = 1, threads = 1, block = 256, together = 2>
// CHECK: %0 = nest.read %in1[%c0 + -4] : tensor<f32>
// CHECK: %1 = nest.read %in0[%c0] : tensor<f32>
// CHECK: %2 = nest.choose %1 if[%c0] in 0 to 4 else %0 : tensor<f32>
// CHECK: nest.store elements %2, %out0 : tensor<f32>
reprise.program @pad devices [0] (%x: tensor<4xf32>, %y: tensor<3xf32>) -> (tensor<9xf32>, tensor<7xf32>) {
  %0 = reprise.pad %x with 0.5 : f32 low [1] high [1] interior [1] : (tensor<4xf32>) -> tensor<9xf32>
  %1 = reprise.concatenate %x, %y dim 0 : (tensor<4xf32>, tensor<3xf32>) -> tensor<7xf32>
  reprise.return %0, %1 : tensor<9xf32>, tensor<7xf32>
}

// -----

// An element says the row that is read.
// CHECK-LABEL: nest.program @gather_1 elements 960 shared 0 {
// CHECK: nest.kernel rows(%r0 = 10) columns(%c0 = 48) buffers(%in1 = input 1, %in0 = input 0, %out0 = output 0)
// CPU-SAME: schedule <width = 32, rows = 10, columns = 48>
// GPU-SAME: schedule <width = 4, rows = 1, columns = 4, threads = 1, block = 256, together = 2>
// CHECK: %0 = nest.read %in1[%r0] : tensor<i64>
// CHECK: %1 = nest.position %0 below 20 : tensor<i64>
// CHECK: %2 = nest.read %in0[%c0 + %1 * 48] : tensor<f32>
// CHECK: nest.store elements %2, %out0 : tensor<f32>
reprise.program @gather devices [0] (%t: tensor<20x48xf32>, %i: tensor<10xi64>) -> (tensor<10x48xf32>) {
  %0 = reprise.gather %t[%i] : (tensor<20x48xf32>, tensor<10xi64>) -> tensor<10x48xf32>
  reprise.return %0 : tensor<10x48xf32>
}

// -----

// A transpose is a place, an iota a number.
// CHECK-LABEL: nest.program @mul_1 elements 48 shared 0 {
// CHECK: nest.kernel rows(%r0 = 8) columns(%c0 = 6) buffers(%in0 = input 0, %out0 = output 0)
// CPU-SAME: schedule <width = 8, rows = 8, columns = 6>
// GPU-SAME: schedule <width = 1, rows = 1, columns = 1, threads = 1, block = 256, together = 2>
// CHECK: %0 = nest.read %in0[%r0 + %c0 * 8] : tensor<f32>
// CHECK: %1 = nest.number[%r0] : tensor<f32>
// CHECK: %2 = reprise.mul %0, %1 : tensor<f32>
// CHECK: nest.store elements %2, %out0 : tensor<f32>
reprise.program @turn devices [0] (%x: tensor<6x8xf32>) -> tensor<8x6xf32> {
  %0 = reprise.transpose %x [1, 0] : (tensor<6x8xf32>) -> tensor<8x6xf32>
  %1 = reprise.iota dim 0 : tensor<8x6xf32>
  %2 = reprise.mul %0, %1 : tensor<8x6xf32>
  reprise.return %2 : tensor<8x6xf32>
}

// -----

// The ops behind a contraction are a kernel over its elements.
// CHECK-LABEL: nest.program @dot_general_1 elements 3840 shared 0 {
// CHECK: nest.kernel outer(%o0 = 1) rows(%r0 = 33) columns(%c0 = 96) buffers(%in2 = input 2, %out0 = output 0)
// CPU-SAME: schedule <width = 32, rows = 33, columns = 96>
// GPU-SAME: schedule <width = 4, rows = 1, columns = 1, threads = 1>
// CHECK: %0 = nest.tile : tensor<bf16>
// CHECK: %1 = nest.read %in2[%c0] : tensor<bf16>
// CHECK: %2 = reprise.add %0, %1 : tensor<bf16>
// CHECK: %3 = reprise.relu %2 : tensor<bf16>
// CHECK: nest.store elements %3, %out0 : tensor<bf16>
reprise.program @tile devices [0] (%x: tensor<33x40xbf16>, %w: tensor<40x96xbf16>, %b: tensor<96xbf16>) -> tensor<33x96xbf16> {
  %0 = reprise.dot_general %x, %w contracting [1] x [0] : (tensor<33x40xbf16>, tensor<40x96xbf16>) -> tensor<33x96xbf16>
  %1 = reprise.broadcast %b dims [1] : (tensor<96xbf16>) -> tensor<33x96xbf16>
  %2 = reprise.add %0, %1 : tensor<33x96xbf16>
  %3 = reprise.relu %2 : tensor<33x96xbf16>
  reprise.return %3 : tensor<33x96xbf16>
}

// -----

// What runs alone reads what a kernel has stored in the scratch of the launch.
// CHECK-LABEL: nest.program @exp_1 elements 64 shared 256 {
// CHECK: nest.kernel columns(%c0 = 64) buffers(%in0 = input 0, %shared0 = shared 0)
// CPU-SAME: schedule <width = 32, rows = 1, columns = 64>
// GPU-SAME: schedule <width = 4, rows = 1, columns = 4, threads = 1, block = 256, together = 2>
// CHECK: %0 = nest.read %in0[%c0] : tensor<f32>
// CHECK: %1 = reprise.exp %0 : tensor<f32>
// CHECK: nest.store elements %1, %shared0 : tensor<f32>
// CHECK: nest.alone buffers(shared 0, output 0) stored [true] {
// CHECK: ^bb0(%arg0: tensor<8x8xf32>):
// CHECK: %0 = reprise.cumsum %arg0 dim 1 : tensor<8x8xf32>
reprise.program @alone devices [0] (%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = exec.launch (%a = %x) : (tensor<8x8xf32>) -> tensor<8x8xf32> {
    %1 = reprise.exp %a : tensor<8x8xf32>
    %2 = reprise.cumsum %1 dim 1 : tensor<8x8xf32>
    exec.return %2 : tensor<8x8xf32>
  }
  reprise.return %0 : tensor<8x8xf32>
}

// -----

// The place of a draw is moved by an origin.
// CHECK-LABEL: nest.program @random_uniform_1 elements 32 shared 0 {
// CHECK: nest.kernel columns(%c0 = 32) buffers(%stream0 = stream 0, %in0 = input 0, %in1 = input 1, %out0 = output 0)
// CPU-SAME: schedule <width = 32, rows = 1, columns = 32>
// GPU-SAME: schedule <width = 4, rows = 1, columns = 4, threads = 1, block = 256, together = 1>
// CHECK: %0 = nest.read %stream0[0] : tensor<i64>
// CHECK: %1 = nest.read %in0[0] : tensor<i64>
// CHECK: %2 = nest.read %in1[0] : tensor<i64>
// CHECK: %3 = nest.read %in1[1] : tensor<i64>
// CHECK: %4 = nest.draw[%c0] stream %0 seed %1 offset %1 origin %2, %3 in [16, 8] {
// CHECK: %5 = reprise.random_uniform : tensor<f32>
// CHECK: nest.store elements %4, %out0 : tensor<f32>
reprise.program @window devices [0] (%key: tensor<i64>, %at: tensor<2xi64>) -> tensor<4x8xf32> {
  %0 = reprise.random_uniform seed %key offset %key origin %at : tensor<2xi64> {global_shape = array<i64: 16, 8>, stream = 0 : i64} : tensor<4x8xf32>
  reprise.return %0 : tensor<4x8xf32>
}
