// RUN: reprise-compile %s --target=cuda:sm_90 -o %t.rpb
// RUN: %python %S/Inputs/ptx.py %t.rpb > %t.ptx
// RUN: FileCheck %s < %t.ptx

// Indices below 2^30 are of 32 bits, in quotients and in loops; addresses alone are of 64.
// CHECK-LABEL: .entry mul_1(
// CHECK-NOT: {{(div|rem|mul|add|shr)[.a-z]*[usb]64}}
// CHECK: mul.wide.{{[us]}}32
// CHECK: ret
// CHECK-LABEL: .entry softmax_2(
// CHECK: add.s32 {{.*}}, 32;
// CHECK: ret

// A value of 2^33 elements has indices of 64 bits.
// CHECK-LABEL: .entry not_3(
// CHECK: mul.wide.u32 [[BLOCK:%rd[0-9]+]], {{%r[0-9]+}}, 1024;
// CHECK: or.b64 {{.*}}[[BLOCK]]
// CHECK: ret
func.func @train(%x: tensor<64x96x28x28xf32> {reprise.role = "input", reprise.name = "x"},
                 %w: tensor<96xf32> {reprise.role = "input", reprise.name = "w"},
                 %y: tensor<80x1000xf32> {reprise.role = "input", reprise.name = "y"},
                 %z: tensor<131072x65536xi1> {reprise.role = "input", reprise.name = "z"})
    -> (tensor<64x96x28x28xf32> {reprise.name = "product"}, tensor<80x1000xf32> {reprise.name = "softmax"},
        tensor<131072x65536xi1> {reprise.name = "negated"}) {
  %b = reprise.broadcast %w dims [1] : (tensor<96xf32>) -> tensor<64x96x28x28xf32>
  %product = reprise.mul %x, %b : tensor<64x96x28x28xf32>
  %softmax = reprise.softmax %y : tensor<80x1000xf32>
  %negated = reprise.not %z : tensor<131072x65536xi1>
  return %product, %softmax, %negated : tensor<64x96x28x28xf32>, tensor<80x1000xf32>, tensor<131072x65536xi1>
}
