// Cotangents that read forward values alone wait for their readers, and those of 16-bit contractions stay narrow.
// RUN: reprise-opt %s --exec-form-launches -split-input-file | FileCheck %s
// RUN: reprise-opt %s --exec-form-launches=target=cuda:sm_90 -split-input-file | FileCheck %s

// The derivative of a norm is one launch. %h, which both sums' terms and the result read, is made there. The factor of
// rows cannot be, before something is reduced; it reads forward values alone, so it runs first.
// CHECK-LABEL: @norm
// CHECK: reprise.cumsum
// CHECK: reprise.rsqrt
// CHECK-NEXT: exec.return
// CHECK: exec.launch
// CHECK-COUNT-2: reprise.sum
// CHECK: exec.return {{.*}} : tensor<8x16x4xf32>
// CHECK-NOT: exec.launch
reprise.program @norm devices [0] (%o: tensor<8x16x4xf32> {reprise.name = "o"}, %x: tensor<8x16x4xf32> {reprise.name = "x"}, %v: tensor<16xf32> {reprise.name = "v"})
    -> (tensor<8x16x4xf32> {reprise.name = "y"}) {
  %zero = reprise.constant dense<0.0> : tensor<8x16x4xf32>
  %d = reprise.cumsum %o dim 2 {reprise.cotangent} : tensor<8x16x4xf32>
  %p = reprise.compare gt %x, %zero {reprise.cotangent} : tensor<8x16x4xf32>
  %s = reprise.select %p, %d, %zero {reprise.cotangent} : tensor<8x16x4xi1>, tensor<8x16x4xf32>
  %r = reprise.rsqrt %v {reprise.cotangent} : tensor<16xf32>
  %rs = reprise.broadcast %r dims [1] {reprise.cotangent} : (tensor<16xf32>) -> tensor<8x16x4xf32>
  %h = reprise.mul %x, %rs {reprise.cotangent} : tensor<8x16x4xf32>
  %sh = reprise.mul %s, %h {reprise.cotangent} : tensor<8x16x4xf32>
  %a = reprise.sum %s dims [0, 2] {reprise.cotangent} : (tensor<8x16x4xf32>) -> tensor<16xf32>
  %b = reprise.sum %sh dims [0, 2] {reprise.cotangent} : (tensor<8x16x4xf32>) -> tensor<16xf32>
  %as = reprise.broadcast %a dims [1] {reprise.cotangent} : (tensor<16xf32>) -> tensor<8x16x4xf32>
  %bs = reprise.broadcast %b dims [1] {reprise.cotangent} : (tensor<16xf32>) -> tensor<8x16x4xf32>
  %c = reprise.sub %s, %as {reprise.cotangent} : tensor<8x16x4xf32>
  %e = reprise.mul %h, %bs {reprise.cotangent} : tensor<8x16x4xf32>
  %y = reprise.sub %c, %e {reprise.cotangent} : tensor<8x16x4xf32>
  reprise.return %y : tensor<8x16x4xf32>
}

// -----

// A contraction in 16 bits stores its own result, not one in 32 that a reduction reads.
// CHECK-LABEL: @wide
// CHECK: reprise.dot_general
// CHECK-NEXT: exec.return {{.*}} : tensor<8x8xbf16>
// CHECK: exec.launch
// CHECK-NEXT: reprise.cast
// CHECK: reprise.sum
// CHECK-NOT: exec.launch
reprise.program @wide devices [0] (%x: tensor<8x8xbf16> {reprise.name = "x"}, %u: tensor<8x8xf32> {reprise.name = "u"}) -> (tensor<8xf32> {reprise.name = "y"}) {
  %0 = reprise.dot_general %x, %x contracting [1] x [0] : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xbf16>
  %1 = reprise.cast %0 : tensor<8x8xbf16> to tensor<8x8xf32>
  %2 = reprise.mul %1, %u : tensor<8x8xf32>
  %3 = reprise.sum %2 dims [1] : (tensor<8x8xf32>) -> tensor<8xf32>
  reprise.return %3 : tensor<8xf32>
}

// -----

// What goes back to 16 bits ahead of it, or is stored in 32 bits anyway, goes along.
// CHECK-LABEL: @narrow
// CHECK: reprise.dot_general
// CHECK: reprise.gelu
// CHECK-NEXT: reprise.cast
// CHECK-NEXT: exec.return {{.*}} : tensor<8x8xbf16>
// CHECK: reprise.dot_general
// CHECK-NEXT: exec.return
reprise.program @narrow devices [0] (%x: tensor<8x8xbf16> {reprise.name = "x"}, %u: tensor<8x8xf32> {reprise.name = "u"}) -> (tensor<8x8xbf16> {reprise.name = "y"}) {
  %0 = reprise.dot_general %x, %x contracting [1] x [0] : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xbf16>
  %1 = reprise.cast %0 : tensor<8x8xbf16> to tensor<8x8xf32>
  %2 = reprise.add %1, %u : tensor<8x8xf32>
  %3 = reprise.gelu %2 : tensor<8x8xf32>
  %4 = reprise.cast %3 : tensor<8x8xf32> to tensor<8x8xbf16>
  %5 = reprise.dot_general %4, %x contracting [1] x [0] : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xbf16>
  reprise.return %5 : tensor<8x8xbf16>
}

// -----

// What waits for the gradient of a sum of rows, and for others, is no epilogue: %h would be stored.
// CHECK-LABEL: @shared
// CHECK: reprise.dot_general
// CHECK-NEXT: exec.return
// CHECK: exec.launch
// CHECK: reprise.sum
// CHECK: exec.return {{.*}} : tensor<8xf32>, tensor<8x8xf32>
// CHECK-NOT: exec.launch
reprise.program @shared devices [0] (%x: tensor<8x8xf32> {reprise.name = "x"}, %u: tensor<8x8xf32> {reprise.name = "u"}) -> (tensor<8xf32> {reprise.name = "y"}, tensor<8x8xf32> {reprise.name = "z"}) {
  %h = reprise.tanh %u {reprise.cotangent} : tensor<8x8xf32>
  %0 = reprise.dot_general %x, %x contracting [1] x [0] {reprise.cotangent} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = reprise.mul %0, %h {reprise.cotangent} : tensor<8x8xf32>
  %2 = reprise.sum %1 dims [1] {reprise.cotangent} : (tensor<8x8xf32>) -> tensor<8xf32>
  %s = reprise.broadcast %2 dims [0] {reprise.cotangent} : (tensor<8xf32>) -> tensor<8x8xf32>
  %3 = reprise.mul %h, %s {reprise.cotangent} : tensor<8x8xf32>
  reprise.return %2, %3 : tensor<8xf32>, tensor<8x8xf32>
}

// -----

// A forward op may read a replay, as in the derivative of a derivative. The replay reads what the first launch makes, so
// that the op, which reads from the first launch too, has a launch behind the replay.
// CHECK-LABEL: @replayed_factor
// CHECK-NEXT: exec.launch
// CHECK: reprise.sub
// CHECK-NEXT: exec.return
// CHECK: exec.launch
// CHECK-NEXT: reprise.rsqrt
// CHECK-NEXT: exec.return
// CHECK: exec.launch
// CHECK: reprise.mul
// CHECK-NEXT: exec.return
reprise.program @replayed_factor devices [0] (%x: tensor<8x4xf64> {reprise.name = "x"}, %e: tensor<8xf64> {reprise.name = "e"})
    -> (tensor<8x4xf64> {reprise.name = "y"}, tensor<8xf64> {reprise.name = "m"}, tensor<8xf64> {reprise.name = "a"}) {
  %m = reprise.mean %x dims [1] {reprise.primal} : (tensor<8x4xf64>) -> tensor<8xf64>
  %a = reprise.add %m, %e {reprise.primal} : tensor<8xf64>
  %r = reprise.rsqrt %a {replay = 1 : i64, reprise.primal} : tensor<8xf64>
  %b = reprise.broadcast %m dims [0] {reprise.primal} : (tensor<8xf64>) -> tensor<8x4xf64>
  %c = reprise.sub %x, %b {reprise.primal} : tensor<8x4xf64>
  %rb = reprise.broadcast %r dims [0] {reprise.primal} : (tensor<8xf64>) -> tensor<8x4xf64>
  %y = reprise.mul %c, %rb {reprise.primal} : tensor<8x4xf64>
  reprise.return %y, %m, %a : tensor<8x4xf64>, tensor<8xf64>, tensor<8xf64>
}
