// RUN: reprise-compile %s --target=cuda:sm_90 -o %t.rpb
// RUN: %python %S/Inputs/ptx.py %t.rpb > %t.ptx
// RUN: FileCheck %s < %t.ptx
// RUN: FileCheck %s --check-prefix=NONE < %t.ptx

// Nothing is approximated, flushed, called or left to be linked.
// NONE-NOT: {{\.approx|\.ftz|\.full|\.extern|call}}

// A thread has four neighbouring elements: loads and stores of 16 bytes. mul and add stay apart.
// CHECK-LABEL: .entry mul_1(
// CHECK: .maxntid 256
// CHECK-NOT: fma
// CHECK-COUNT-2: ld.global.v4.b32
// CHECK-NOT: fma
// CHECK-COUNT-4: mul.rn.f32
// CHECK-NOT: fma
// CHECK-COUNT-4: add.rn.f32
// CHECK-NOT: fma
// CHECK: st.global.v4.b32
// CHECK: ret

// 63 elements do not fall into fours: one each. Square roots and quotients are rounded right.
// CHECK-LABEL: .entry sqrt_2(
// CHECK-NOT: .v4
// CHECK: ld.global.b32
// CHECK: sqrt.rn.f32
// CHECK: div.rn.f32
// CHECK-NOT: .v4
// CHECK: st.global.b32
// CHECK: ret

// A bias is the same for all rows, so nothing is stored there: its load may come ahead of any store. The result may lie
// where the other operand lies. A transposed operand is not consecutive.
// CHECK-LABEL: .entry add_3(
// CHECK: ld.global.v4.b32
// CHECK: ld.global.nc.v4.b32
// CHECK: st.global.v4.b32
// CHECK-LABEL: .entry neg_4(
// CHECK-NOT: .v4
// CHECK: ret

// Two loads of 16 bytes for four f64, one of 8 for four bf16, which are rounded by integer operations.
// CHECK-LABEL: .entry neg_5(
// CHECK-COUNT-2: ld.global.v2.b64
// CHECK-COUNT-2: st.global.v2.b64
// CHECK-LABEL: .entry mul_6(
// CHECK-COUNT-2: ld.global.v4.b16
// CHECK-NOT: bf16
// CHECK: mul.rn.f32
// CHECK-NOT: bf16
// CHECK: st.global.v4.b16

// The exponential is a polynomial of explicit fma.
// CHECK-LABEL: .entry exp_7(
// CHECK-COUNT-10: fma.rn.f32
// CHECK-NOT: ex2

// A thread draws one block of four words for its four elements: ten rounds of two products of 32-bit registers. (LLVM has
// those of the first round in 64 bits, whose operands are halves of such.)
// CHECK-LABEL: .entry dropout_8(
// CHECK-COUNT-2: mul.lo.s64
// CHECK-COUNT-18: mul.hi.u32
// CHECK-NOT: mul.hi
// CHECK-COUNT-4: setp.lt.u32
// CHECK: st.global.v4.b32
// CHECK: ret

!a = tensor<64x96xf32>
!b = tensor<7x9xf32>
!c = tensor<32x96xf32>
!d = tensor<8x16xf64>
!e = tensor<8x32xbf16>
!f = tensor<128xf32>
!g = tensor<256xf32>
func.func @train(
    %x: !a {reprise.role = "input", reprise.name = "x"}, %y: !a {reprise.role = "input", reprise.name = "y"},
    %b: !b {reprise.role = "input", reprise.name = "b"}, %c: !c {reprise.role = "input", reprise.name = "c"},
    %bias: tensor<96xf32> {reprise.role = "input", reprise.name = "bias"},
    %t: tensor<24x40xf32> {reprise.role = "input", reprise.name = "t"}, %d: !d {reprise.role = "input", reprise.name = "d"},
    %e: !e {reprise.role = "input", reprise.name = "e"}, %e2: !e {reprise.role = "input", reprise.name = "e2"},
    %f: !f {reprise.role = "input", reprise.name = "f"}, %g: !g {reprise.role = "input", reprise.name = "g"})
    -> (!a {reprise.name = "added"}, !b {reprise.name = "root"}, !c {reprise.name = "biased"},
        tensor<40x24xf32> {reprise.name = "turned"}, !d {reprise.name = "negative"}, !e {reprise.name = "product"},
        !f {reprise.name = "grown"}, !g {reprise.name = "dropped"}) {
  %product = reprise.mul %x, %y : !a
  %added = reprise.add %product, %x : !a
  %sqrt = reprise.sqrt %b : !b
  %root = reprise.div %sqrt, %b : !b
  %wide = reprise.broadcast %bias dims [1] : (tensor<96xf32>) -> !c
  %biased = reprise.add %c, %wide : !c
  %turn = reprise.transpose %t [1, 0] : (tensor<24x40xf32>) -> tensor<40x24xf32>
  %turned = reprise.neg %turn : tensor<40x24xf32>
  %negative = reprise.neg %d : !d
  %short = reprise.mul %e, %e2 : !e
  %grown = reprise.exp %f : !f
  %dropped = reprise.dropout %g {rate = 0.1 : f64} : !g
  return %added, %root, %biased, %turned, %negative, %short, %grown, %dropped
      : !a, !b, !c, tensor<40x24xf32>, !d, !e, !f, !g
}
