// RUN: reprise-compile %s --target=cuda:sm_90 -o %t.rpb
// RUN: %python %S/Inputs/ptx.py %t.rpb > %t.ptx
// RUN: FileCheck %s < %t.ptx

!t = tensor<300x1000xf32>

// Columns are summed by threads that exchange nothing, in front of the elements that ask for reduced rows; then the parts
// of 64 rows meet.
// CHECK-LABEL: .entry mul_1(
// CHECK-NOT: shfl
// CHECK-LABEL: .entry mul_1_1(
// CHECK-COUNT-5: shfl.sync.bfly
// CHECK-NOT: shfl
// CHECK-LABEL: .entry mul_1_2(
// CHECK-NOT: shfl

// Forty rows of 36,000 are reduced in blocks, which meet in a second kernel.
// CHECK-LABEL: .entry sum_2(
// CHECK-COUNT-5: shfl.sync.bfly
// CHECK-LABEL: .entry sum_2_1(
// CHECK-NOT: shfl
func.func @train(%x: !t {reprise.role = "input", reprise.name = "x"},
                 %w: !t {reprise.role = "input", reprise.name = "w"},
                 %long: tensor<4x40x9000xf32> {reprise.role = "input", reprise.name = "long"})
    -> (tensor<1000xf32> {reprise.name = "sums"}, !t {reprise.name = "y"}, tensor<40xf32> {reprise.name = "all"}) {
  %product = reprise.mul %x, %w : !t
  %sums = reprise.sum %product dims [0] : (!t) -> tensor<1000xf32>
  %mean = reprise.mean %product dims [1] : (!t) -> tensor<300xf32>
  %rows = reprise.broadcast %mean dims [0] : (tensor<300xf32>) -> !t
  %y = reprise.sub %product, %rows : !t
  %all = reprise.sum %long dims [0, 2] : (tensor<4x40x9000xf32>) -> tensor<40xf32>
  return %sums, %y, %all : tensor<1000xf32>, !t, tensor<40xf32>
}
