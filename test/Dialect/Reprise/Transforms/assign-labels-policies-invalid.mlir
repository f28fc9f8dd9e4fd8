// Policies in the IR: what the label phase refuses.
// RUN: reprise-opt %s --reprise-assign-labels --split-input-file --verify-diagnostics

reprise.policy @typo {
  // expected-error @+1 {{the rule matches no op}}
  reprise.rule must_save match {op = "expp"}
}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = reprise.exp %x : tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

reprise.policy @a {
  reprise.rule policy "@b"
}
reprise.policy private @b {
  // expected-error @+1 {{policy '@a' refers to itself: @a -> @b -> @a}}
  reprise.rule policy "@a"
}

// -----

reprise.policy @unknown {
  // expected-error @+1 {{unknown policy '@others', expected one of @unknown}}
  reprise.rule policy "@others"
}

// -----

func.func @none(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{unknown policy '@none': the module has no policies}}
  %0 = reprise.checkpoint policy "@none" {
    reprise.yield %x : tensor<4xf32>
  } : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

reprise.policy @keep {
  reprise.rule must_save match {op = "exp"}
}
reprise.policy @drop {
  reprise.rule must_recompute match {bytes = ">=16"}
}
func.func @clash(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{contradictory labels: 'must_save' from policy @keep:1 and 'must_recompute' from policy @drop:1}}
  %a = reprise.exp %x : tensor<4xf32>
  return %a : tensor<4xf32>
}
