// RUN: reprise-compile %s --target=cuda:sm_90 -o %t.rpb
// RUN: %python %S/Inputs/ptx.py %t.rpb > %t.ptx
// RUN: FileCheck %s < %t.ptx
// RUN: FileCheck %s --check-prefix=NONE < %t.ptx

// NONE-NOT: {{\.approx|\.ftz|\.full|\.extern|call|atom|[[:space:]]red\.}}

!t = tensor<80x1000xf32>

// A row per warp. Copies of 16 bytes bring it to shared memory, where each thread has one of the 32 lanes; lanes fold by a
// butterfly among threads: for the maximum, which is IEEE's, then for the sum. The exponentials take the row's place.
// CHECK-LABEL: .entry softmax_1(
// CHECK: cp.async.cg.shared.global {{.*}}, 16;
// CHECK: cp.async.wait_group 0;
// CHECK-NEXT: bar.warp.sync -1;
// CHECK: ld.shared.b32
// CHECK: max.NaN.f32
// CHECK: shfl.sync.bfly.b32 {{.*}}, 16, 31, -1;
// CHECK-NEXT: max.NaN.f32
// CHECK: shfl.sync.bfly.b32 {{.*}}, 1, 31, -1;
// CHECK-NEXT: max.NaN.f32
// CHECK: ld.shared.b32
// CHECK: fma.rn.f32
// CHECK: st.shared.b32
// CHECK: shfl.sync.bfly.b32 {{.*}}, 16, 31, -1;
// CHECK-NEXT: add.rn.f32
// CHECK: shfl.sync.bfly.b32 {{.*}}, 1, 31, -1;
// CHECK-NEXT: add.rn.f32
// CHECK: bar.warp.sync -1;
// CHECK-NOT: {{shfl|fma}}
// CHECK: ld.shared.v4.b32
// CHECK-COUNT-4: div.rn.f32
// CHECK: st.global.v4.b32
// CHECK: ret

// Columns: a thread goes down a block of 64 rows, four columns wide, with the sums in registers.
// CHECK-LABEL: .entry sum_2(
// CHECK-NOT: shfl
// CHECK-NOT: st.global
// CHECK: ld.global.nc.v4.b32
// CHECK-NOT: ld.global
// CHECK-COUNT-4: add.rn.f32
// CHECK-NOT: st.global
// CHECK: bra
// CHECK: st.global.v4.b32
// CHECK-NOT: st.global
// CHECK: ret
// The two blocks meet in a second command.
// CHECK-LABEL: .entry sum_2_1(
// CHECK: add.rn.f32
// CHECK: ret

// Rows of 90 are not aligned: a thread has lanes 8 apart. Exchanges of 64 bits are two of 32.
// CHECK-LABEL: .entry max_3(
// CHECK-NOT: ld.global{{(\.nc)?}}.v
// CHECK-COUNT-2: shfl.sync.bfly.b32 {{.*}}, 4, 31, -1;
// CHECK-COUNT-2: shfl.sync.bfly.b32 {{.*}}, 2, 31, -1;
// CHECK-COUNT-2: shfl.sync.bfly.b32 {{.*}}, 1, 31, -1;
// CHECK-NOT: shfl
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
