// Policies read back as they were written.
// RUN: reprise-opt %s | reprise-opt | FileCheck %s
// RUN: reprise-opt %s --mlir-print-op-generic | reprise-opt | FileCheck %s
// RUN: reprise-opt %s --emit-bytecode | reprise-opt | FileCheck %s

// CHECK: reprise.policy @attention_again {
reprise.policy @attention_again {
  // CHECK-NEXT: reprise.rule must_recompute match {kind = "attention", scope = "layer/[0-5]/**"}
  reprise.rule must_recompute match {scope = "layer/[0-5]/**", kind = "attention"}
  // CHECK-NEXT: reprise.rule prefer_save match {every = 2, op = "dot_general"}
  reprise.rule prefer_save match {op = "dot_general", every = 2}
  // CHECK-NEXT: reprise.rule prefer_offload match {bytes = ">=1MiB", dtype = "f32", first = 3, flops = "<2k", last = 4, name = "residual*"}
  reprise.rule prefer_offload match {name = "residual*", bytes = ">=1MiB", flops = "<2k", dtype = "f32", first = 3, last = 4}
  // CHECK-NEXT: reprise.rule policy "save_from_both_policies(@rest, dots_saveable)"
  reprise.rule policy "save_from_both_policies(@rest, dots_saveable)"
  // CHECK-NEXT: reprise.rule prefer_recompute
  reprise.rule prefer_recompute
}

// CHECK: reprise.policy private @rest attributes {note = "by hand"} {
// CHECK-NEXT: }
reprise.policy private @rest attributes {note = "by hand"} {
}
