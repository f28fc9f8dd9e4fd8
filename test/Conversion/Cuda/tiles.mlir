// Large contractions copy 16 bytes at a time where neighbours allow that, and leave registers for two blocks on a multiprocessor.
// RUN: reprise-compile %s -o %t.rpb --target=cuda:sm_80 && %python %S/Inputs/ptx.py %t.rpb | FileCheck %s

// Rows of the first operand lie apart, columns of the second one together. Three tiles are copied ahead of the loop, and in it the one after
// those while the terms of one are multiplied. A term is read before the one ahead of it is multiplied, also behind the barrier.
// CHECK: .minnctapersm 2
// CHECK-COUNT-3: cp.async.commit_group;
// CHECK: cp.async.wait_group 2;
// CHECK-NEXT: bar.sync 0;
// CHECK-COUNT-4: ld.shared.v4.b32
// CHECK: cp.async.ca.shared.global [%rd{{[0-9]+}}], {{.*}}, 4;
// CHECK: cp.async.cg.shared.global [%rd{{[0-9]+}}+16896], {{.*}}, 16;
// CHECK: cp.async.commit_group;
// CHECK-COUNT-4: ld.shared.v4.b32
// CHECK-COUNT-64: fma.rn.f32
// CHECK: cp.async.wait_group 2;
// CHECK-NEXT: bar.sync 0;
// CHECK-COUNT-4: ld.shared.v4.b32
// CHECK-COUNT-64: fma.rn.f32
// CHECK: st.global.v4.b32
// CHECK-NOT: cp.async.ca
func.func @train(%a: tensor<2048x1024xf32> {reprise.role = "input", reprise.name = "a"},
                 %b: tensor<1024x2048xf32> {reprise.role = "input", reprise.name = "b"}) -> (tensor<2048x2048xf32> {reprise.name = "x"}) {
  %0 = reprise.dot_general %a, %b contracting [1] x [0] : (tensor<2048x1024xf32>, tensor<1024x2048xf32>) -> tensor<2048x2048xf32>
  return %0 : tensor<2048x2048xf32>
}
