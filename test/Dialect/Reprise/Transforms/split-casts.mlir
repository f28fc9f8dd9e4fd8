// A cast to a wider float is made again for each reader that converts as it loads.
// RUN: reprise-opt %s --reprise-split-casts | FileCheck %s

!half = tensor<4x8xbf16>
!full = tensor<4x8xf32>

// Readers of the same part get copies that CSE keeps apart; one in the backward pass gets a cast of its part.
// CHECK-LABEL: reprise.program @readers devices [0] (
// CHECK-NEXT: %[[A:.*]] = reprise.cast %arg0 {reprise.block = array<i64: 1>, reprise.primal} :
// CHECK-NEXT: %[[B:.*]] = reprise.cast %arg0 {reprise.block = array<i64: 1>, reprise.copy = 1 : i64, reprise.primal} :
// CHECK-NEXT: %[[M:.*]] = reprise.mean %[[B]]
// CHECK-NEXT: %[[E:.*]] = reprise.exp %[[A]]
// CHECK-NEXT: %[[C:.*]] = reprise.cast %arg0 {reprise.block = array<i64: 2>, reprise.copy = 0 : i64, reprise.cotangent, reprise.order = 1 : i64} :
// CHECK-NEXT: reprise.mul %[[C]], %[[E]]
reprise.program @readers devices [0] (%x: !half) -> (tensor<4xf32>, !full) {
  %0 = reprise.cast %x {reprise.block = array<i64: 1>, reprise.primal} : !half to !full
  %1 = reprise.mean %0 dims [1] {reprise.primal} : (!full) -> tensor<4xf32>
  %2 = reprise.exp %0 {reprise.primal} : !full
  %3 = reprise.mul %0, %2 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : !full
  reprise.return %1, %3 : tensor<4xf32>, !full
}

// A contraction, a view and the caller read the value from memory: they share the cast.
// CHECK-LABEL: reprise.program @memory devices [0] (
// CHECK-NEXT: %[[A:.*]] = reprise.cast %arg0 :
// CHECK-NEXT: %[[B:.*]] = reprise.cast %arg0 {reprise.copy = 0 : i64} :
// CHECK-NEXT: reprise.dot_general %[[A]], %[[A]]
// CHECK-NEXT: reprise.transpose %[[A]]
// CHECK-NEXT: reprise.neg %[[B]]
// CHECK-NEXT: return {{.*}}, %[[A]]
reprise.program @memory devices [0] (%x: !half) -> (tensor<4x4xf32>, tensor<8x4xf32>, !full, !full) {
  %0 = reprise.cast %x : !half to !full
  %1 = reprise.dot_general %0, %0 contracting [1] x [1] : (!full, !full) -> tensor<4x4xf32>
  %2 = reprise.transpose %0 [1, 0] : (!full) -> tensor<8x4xf32>
  %3 = reprise.neg %0 : !full
  reprise.return %1, %2, %3, %0 : tensor<4x4xf32>, tensor<8x4xf32>, !full, !full
}

// One that rounds is made once.
// CHECK-LABEL: reprise.program @rounds devices [0] (
// CHECK-COUNT-1: reprise.cast
// CHECK-NOT: reprise.cast
reprise.program @rounds devices [0] (%x: !full) -> (!half, !half) {
  %0 = reprise.cast %x : !full to !half
  %1 = reprise.neg %0 : !half
  %2 = reprise.exp %0 : !half
  reprise.return %1, %2 : !half, !half
}

// What a policy saves is what the backward pass reads, unless it saves the operand, too.
// CHECK-LABEL: reprise.program @labels devices [0] (
// CHECK: %[[A:.*]] = reprise.cast {{.*}}must_save
// CHECK: %[[B:.*]] = reprise.cast {{.*}}prefer_save
// CHECK-NOT: reprise.cast
// CHECK: reprise.neg %[[A]] {reprise.cotangent
// CHECK-NEXT: %[[C:.*]] = reprise.cast %{{.*}} {reprise.copy = 0 : i64, reprise.cotangent
// CHECK-NEXT: reprise.neg %[[C]]
reprise.program @labels devices [0] (%x: !half) -> (!full, !full) {
  %0 = reprise.exp %x {reprise.primal, reprise.label = #reprise.label<prefer_recompute>} : !half
  %1 = reprise.cast %0 {reprise.primal, reprise.label = #reprise.label<must_save>} : !half to !full
  %2 = reprise.tanh %x {reprise.primal, reprise.label = #reprise.label<prefer_save>} : !half
  %3 = reprise.cast %2 {reprise.primal, reprise.label = #reprise.label<prefer_save>} : !half to !full
  %4 = reprise.sqrt %3 {reprise.primal} : !full
  %5 = reprise.neg %1 {reprise.cotangent, reprise.order = 1 : i64} : !full
  %6 = reprise.neg %3 {reprise.cotangent, reprise.order = 1 : i64} : !full
  %7 = reprise.add %4, %6 {reprise.cotangent, reprise.order = 1 : i64} : !full
  reprise.return %5, %7 : !full, !full
}
