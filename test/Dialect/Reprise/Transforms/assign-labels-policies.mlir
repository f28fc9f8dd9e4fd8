// Policies in the IR.
// RUN: reprise-opt %s --reprise-assign-labels=policies=@late,dots-saveable --split-input-file | FileCheck %s

// A public one counts for the whole module, behind checkpoints and before the command line; a private one only where it is named. All are gone afterwards.

// CHECK-NOT: reprise.policy
reprise.policy @whole {
  reprise.rule prefer_save match {op = "{exp,tanh}", first = 2}
  reprise.rule policy "@included"
}
reprise.policy private @included {
  reprise.rule prefer_recompute match {op = "sqrt"}
}
reprise.policy private @inside {
  reprise.rule prefer_recompute match {op = "tanh"}
  reprise.rule must_save match {name = "root"}
}
reprise.policy private @late {
  reprise.rule must_recompute match {op = "log"}
  reprise.rule prefer_save
}

// CHECK-LABEL: func @f
func.func @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: reprise.exp {{.*}}<prefer_save>, reprise.rule = "policy @whole:1"
  %a = reprise.exp %x : tensor<4x4xf32>
  %e = reprise.checkpoint policy "@inside" {
    // CHECK: reprise.tanh {{.*}}<prefer_recompute>, reprise.rule = "checkpoint @inside:1"
    %b = reprise.tanh %a : tensor<4x4xf32>
    // CHECK: reprise.sqrt {{.*}}<must_save>, reprise.names = ["root"], reprise.rule = "name root by @inside:2"
    %c = reprise.sqrt %b : tensor<4x4xf32>
    %d = reprise.name %c "root" : tensor<4x4xf32>
    reprise.yield %d : tensor<4x4xf32>
  } : tensor<4x4xf32>
  // CHECK: reprise.sqrt {{.*}}<prefer_recompute>, reprise.rule = "policy @included:1"
  %f = reprise.sqrt %e : tensor<4x4xf32>
  // CHECK: reprise.log {{.*}}<must_recompute>, reprise.rule = "policy @late:1"
  %g = reprise.log %f : tensor<4x4xf32>
  // CHECK: reprise.exp {{.*}}<prefer_save>, reprise.rule = "policy @late:2"
  %h = reprise.exp %g : tensor<4x4xf32>
  return %h : tensor<4x4xf32>
}

// -----

// The label phase alone asks for @late; it is here, too.
reprise.policy private @late {
}

// Rules of one policy: the first PREFER counts, and a MUST behind it outranks it.
reprise.policy @order {
  reprise.rule prefer_save match {op = "exp"}
  reprise.rule prefer_recompute match {kind = "elementwise"}
  reprise.rule must_recompute match {op = "exp", every = 2}
}

// CHECK-LABEL: func @order_of_rules
func.func @order_of_rules(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: reprise.exp {{.*}}<prefer_save>, reprise.rule = "policy @order:1"
  %a = reprise.exp %x : tensor<4xf32>
  // CHECK: reprise.exp {{.*}}<must_recompute>, reprise.rule = "policy @order:3"
  %b = reprise.exp %a : tensor<4xf32>
  // CHECK: reprise.tanh {{.*}}<prefer_recompute>, reprise.rule = "policy @order:2"
  %c = reprise.tanh %b : tensor<4xf32>
  return %c : tensor<4xf32>
}
