// One bundle whose launches differ from chip to chip: the block of a row in shared memory follows from the memory of a
// multiprocessor. Every chip has the bits of the interpreter.
// RUN: rm -rf %t && mkdir %t
// RUN: reprise-compile %s --interpret --seed=3 --output-dir=%t/ops
// RUN: reprise-compile %s --target=cuda:sm_80+sm_86+sm_90 -o %t/all.rpb
// RUN: %python %S/Inputs/ptx.py %t/all.rpb | grep -E "^\.target|\.entry|\.maxntid|\.minnctapersm" | FileCheck %s
// RUN: env REPRISE_EMULATED_CAPABILITY=80 %gpu reprise-run %t/all.rpb --device=cuda --seed=3 --output-dir=%t/80 | FileCheck %s --check-prefix=ON80
// RUN: env REPRISE_EMULATED_CAPABILITY=89 %gpu reprise-run %t/all.rpb --device=cuda --seed=3 --output-dir=%t/89 | FileCheck %s --check-prefix=ON89
// RUN: env REPRISE_EMULATED_CAPABILITY=120 %gpu reprise-run %t/all.rpb --device=cuda --seed=3 --output-dir=%t/120 | FileCheck %s --check-prefix=ON120
// RUN: cmp %t/ops/rows.npy %t/80/rows.npy && cmp %t/ops/rows.npy %t/89/rows.npy && cmp %t/ops/rows.npy %t/120/rows.npy
// RUN: cmp %t/ops/plain.npy %t/80/plain.npy && cmp %t/ops/plain.npy %t/89/plain.npy && cmp %t/ops/plain.npy %t/120/plain.npy

// ON80: sm_80), code for cuda:sm_80+sm_86+sm_90, of which sm_80
// ON89: sm_89), code for cuda:sm_80+sm_86+sm_90, of which sm_86
// ON120: sm_120), code for cuda:sm_80+sm_86+sm_90, of which sm_90

// A row of 3,072 has 12 KiB: a block has three, one, or four rows. Another kernel is the same on all chips.
// CHECK: .target sm_80
// CHECK: .entry softmax_1(
// CHECK: .maxntid 96
// CHECK: .target sm_86
// CHECK: .entry softmax_1_sm_86(
// CHECK: .maxntid 32
// CHECK: .target sm_90
// CHECK: .entry softmax_1_sm_90(
// CHECK: .maxntid 128
// CHECK-COUNT-3: .entry exp_2(
func.func @train(
    %x: tensor<41x3072xf32> {reprise.role = "input", reprise.name = "x", reprise.init = #reprise.normal<0.0, 1.0>},
    %y: tensor<70xf32> {reprise.role = "input", reprise.name = "y", reprise.init = #reprise.normal<0.0, 1.0>})
    -> (tensor<41x3072xf32> {reprise.name = "rows"}, tensor<70xf32> {reprise.name = "plain"}) {
  %0 = reprise.softmax %x : tensor<41x3072xf32>
  %1 = reprise.exp %y : tensor<70xf32>
  return %0, %1 : tensor<41x3072xf32>, tensor<70xf32>
}
