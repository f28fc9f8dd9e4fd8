// RUN: reprise-compile %s --target=cuda:sm_90 -o %t.rpb
// RUN: %python %S/Inputs/ptx.py %t.rpb > %t.ptx
// RUN: FileCheck %s < %t.ptx
// RUN: FileCheck %s --check-prefix=NONE < %t.ptx

// NONE-NOT: {{\.approx|\.ftz|\.full|\.extern|call|atom|red\.}}

!t = tensor<80x1000xf32>

// A warp per row, whose lanes go through it side by side and fold by a butterfly: for the maximum, which is IEEE's, then
// for the sum. The last pass computes the exponentials again.
// CHECK-LABEL: .entry softmax_1(
// CHECK: and.b64 {{.*}}, 31;
// CHECK: ld.global.b32
// CHECK-NEXT: max.NaN.f32
// CHECK-NEXT: add.s64 {{.*}}, 32;
// CHECK: shfl.sync.bfly.b32 {{.*}}, 16, 31, -1;
// CHECK-NEXT: max.NaN.f32
// CHECK-NEXT: shfl.sync.bfly.b32 {{.*}}, 8, 31, -1;
// CHECK-NEXT: max.NaN.f32
// CHECK-NEXT: shfl.sync.bfly.b32 {{.*}}, 4, 31, -1;
// CHECK-NEXT: max.NaN.f32
// CHECK-NEXT: shfl.sync.bfly.b32 {{.*}}, 2, 31, -1;
// CHECK-NEXT: max.NaN.f32
// CHECK-NEXT: shfl.sync.bfly.b32 {{.*}}, 1, 31, -1;
// CHECK-NEXT: max.NaN.f32
// CHECK: fma.rn.f32
// CHECK: shfl.sync.bfly.b32 {{.*}}, 16, 31, -1;
// CHECK-NEXT: add.rn.f32
// CHECK: shfl.sync.bfly.b32 {{.*}}, 1, 31, -1;
// CHECK-NEXT: add.rn.f32
// CHECK-NOT: shfl
// CHECK: fma.rn.f32
// CHECK: div.rn.f32
// CHECK: st.global.b32
// CHECK: ret

// Columns: a thread goes down a block of 64 rows, four columns wide.
// CHECK-LABEL: .entry sum_2(
// CHECK-NOT: shfl
// CHECK: ld.global.v4.b32
// CHECK-COUNT-4: add.rn.f32
// CHECK: ret
// The two blocks meet in a second command.
// CHECK-LABEL: .entry sum_2_1(
// CHECK: add.rn.f32
// CHECK: ret

// Exchanges of 64 bits are two of 32.
// CHECK-LABEL: .entry max_3(
// CHECK-COUNT-10: shfl.sync.bfly.b32
// CHECK: st.global.b64
// CHECK: ret
func.func @train(%x: !t {reprise.role = "input", reprise.name = "x"},
                 %y: !t {reprise.role = "input", reprise.name = "y"},
                 %d: tensor<8x90xf64> {reprise.role = "input", reprise.name = "d"})
    -> (!t {reprise.name = "softmax"}, tensor<1000xf32> {reprise.name = "sums"}, tensor<8xf64> {reprise.name = "most"}) {
  %softmax = reprise.softmax %x : !t
  %sums = reprise.sum %y dims [0] : (!t) -> tensor<1000xf32>
  %most = reprise.max %d dims [1] : (tensor<8x90xf64>) -> tensor<8xf64>
  return %softmax, %sums, %most : !t, tensor<1000xf32>, tensor<8xf64>
}
