// Nests that are written by hand run in place of the ops of their launches, on a CPU and on a GPU, to the same numbers.
// RUN: rm -rf %t && mkdir %t
// RUN: reprise-compile %s --interpret --output-dir=%t/ops
// RUN: reprise-compile %s --target=cpu:x86-64-v3 -o %t/cpu.rpb
// RUN: reprise-run %t/cpu.rpb --output-dir=%t/cpu
// RUN: reprise-compile %s --target=cuda:sm_90 -o %t/gpu.rpb
// RUN: %gpu reprise-run %t/gpu.rpb --device=cuda --output-dir=%t/gpu
// RUN: bash -c 'for by in ops cpu gpu; do echo $by; for name in rows sums places products; do od -An -v -tf4 -w32 -j128 %t/$by/$name.npy; done; done' | FileCheck %s

// CHECK: ops
// CHECK-NEXT: -3 -2 -1 0 -0.5 0 -4 -4
// CHECK-NEXT: 32.5 32.5 32.5
// CHECK-NEXT: 5.25 15.25 25.5 35.5 45.75 55.25 66 75.5
// CHECK-NEXT: 3.5 8 0 0
// CHECK-NEXT: cpu
// CHECK-NEXT: -3 -2 -1 0 -0.5 0 -4 -4
// CHECK-NEXT: 32.5 32.5 32.5
// CHECK-NEXT: 5.25 15.25 25.5 35.5 45.75 55.25 66 75.5
// CHECK-NEXT: 3.5 8 0 0
// CHECK-NEXT: gpu
// CHECK-NEXT: -3 -2 -1 0 -0.5 0 -4 -4
// CHECK-NEXT: 32.5 32.5 32.5
// CHECK-NEXT: 5.25 15.25 25.5 35.5 45.75 55.25 66 75.5
// CHECK-NEXT: 3.5 8 0 0

// A row is read, reduced and read again.
nest.program @rows elements 8 shared 0 {
  nest.kernel rows(%i = 2) columns(%j = 4) buffers(%x = input 0, %y = output 0) {
    %0 = nest.read %x[%i * 4 + %j] : tensor<f32>
    %1 = nest.reduce max %0 : tensor<f32>
    %2 = reprise.sub %0, %1 : tensor<f32>
    nest.store elements %2, %y : tensor<f32>
  }
}

// Blocks of 64 rows leave parts in scratch, which meet in a second kernel.
nest.program @sums elements 390 shared 36 {
  nest.kernel rows(%i = 130) columns(%j = 3) buffers(%x = input 0, %p = shared 0) {
    %0 = nest.read %x[%i * 3 + %j] : tensor<f32>
    nest.store row_parts by sum %0, %p : tensor<f32>
  }
  nest.kernel columns(%j = 3) buffers(%p = shared 0, %y = output 0) {
    %0 = nest.meet sum %p[%j] parts 3 by 3 over 2 : tensor<f32>
    nest.store elements %0, %y : tensor<f32>
  }
}

// Computed places, of which a choice reads one.
nest.program @places elements 8 shared 0 {
  nest.kernel columns(%j = 8) buffers(%x = input 0, %n = input 1, %y = output 0) {
    %q = nest.quotient[%j] by 2 below 4
    %0 = nest.read %x[%q] : tensor<f32>
    %1 = nest.read %n[%j] : tensor<i64>
    %p = nest.position %1 below 4 : tensor<i64>
    %2 = nest.read %x[%p] : tensor<f32>
    %3 = nest.choose %0 if[%j] in 0 to 4 else %2 : tensor<f32>
    %4 = nest.number[%j * 10 + 5] : tensor<f32>
    %5 = reprise.add %3, %4 : tensor<f32>
    nest.store elements %5, %y : tensor<f32>
  }
}

// Few steps in order within an element.
nest.program @products elements 8 shared 0 {
  nest.kernel columns(%j = 4) buffers(%x = input 0, %y = output 0) {
    %0 = nest.sequence product(%k = 2) {
      %1 = nest.read %x[%k * 4 + %j] : tensor<f32>
      nest.yield %1 : tensor<f32>
    } : tensor<f32>
    nest.store elements %0, %y : tensor<f32>
  }
}

reprise.program @train devices [0] () -> (tensor<2x4xf32> {reprise.name = "rows"}, tensor<3xf32> {reprise.name = "sums"},
                                          tensor<8xf32> {reprise.name = "places"}, tensor<4xf32> {reprise.name = "products"}) {
  %x = reprise.constant dense<[[1.0, 2.0, 3.0, 4.0], [3.5, 4.0, 0.0, 0.0]]> : tensor<2x4xf32>
  %half = reprise.constant dense<0.5> : tensor<130x3xf32>
  %few = reprise.constant dense<[0.25, 0.5, 0.75, 1.0]> : tensor<4xf32>
  %at = reprise.constant dense<[0, 0, 0, 0, 2, -1, 9, 1]> : tensor<8xi64>
  %rows = exec.launch (%a = %x) : (tensor<2x4xf32>) -> tensor<2x4xf32> {
    %0 = reprise.max %a dims [1] : (tensor<2x4xf32>) -> tensor<2xf32>
    %1 = reprise.broadcast %0 dims [0] : (tensor<2xf32>) -> tensor<2x4xf32>
    %2 = reprise.sub %a, %1 : tensor<2x4xf32>
    exec.return %2 : tensor<2x4xf32>
  } {exec.nests = @rows}
  %sums = exec.launch (%a = %half) : (tensor<130x3xf32>) -> tensor<3xf32> {
    %0 = reprise.constant dense<2.0> : tensor<3xf32>
    %1 = reprise.sum %a dims [0] : (tensor<130x3xf32>) -> tensor<3xf32>
    %2 = reprise.div %1, %0 : tensor<3xf32>
    exec.return %2 : tensor<3xf32>
  } {exec.nests = @sums}
  %places = exec.launch (%a = %few, %n = %at) : (tensor<4xf32>, tensor<8xi64>) -> tensor<8xf32> {
    %0 = reprise.constant dense<[0.25, 0.25, 0.5, 0.5, 0.75, 0.25, 1.0, 0.5]> : tensor<8xf32>
    %1 = reprise.constant dense<[5.0, 15.0, 25.0, 35.0, 45.0, 55.0, 65.0, 75.0]> : tensor<8xf32>
    %2 = reprise.add %0, %1 : tensor<8xf32>
    exec.return %2 : tensor<8xf32>
  } {exec.nests = @places}
  %products = exec.launch (%a = %x) : (tensor<2x4xf32>) -> tensor<4xf32> {
    %0 = reprise.prod %a dims [0] : (tensor<2x4xf32>) -> tensor<4xf32>
    exec.return %0 : tensor<4xf32>
  } {exec.nests = @products}
  reprise.return %rows, %sums, %places, %products : tensor<2x4xf32>, tensor<3xf32>, tensor<8xf32>, tensor<4xf32>
}
