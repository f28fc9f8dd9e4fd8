// Policies: what the parsers and verifiers refuse.
// RUN: reprise-opt %s -verify-diagnostics -split-input-file

reprise.policy @unknown_key {
  // expected-error @+1 {{'reprise.rule' op 'size': unknown key 'size', expected one of op, name, scope, bytes, flops, kind, dtype, every, first, last}}
  reprise.rule must_save match {size = "1"}
}

// -----

reprise.policy @kind {
  // expected-error @+1 {{'reprise.rule' op 'kind': unknown kind 'atention', did you mean 'attention'?}}
  reprise.rule must_save match {kind = "atention"}
}

// -----

reprise.policy @dtype {
  // expected-error @+1 {{'reprise.rule' op 'dtype': unknown dtype 'f8', expected one of bf16, f16, f32, f64, i1, i32, i64}}
  reprise.rule must_save match {dtype = "f8"}
}

// -----

reprise.policy @every {
  // expected-error @+1 {{'reprise.rule' op 'every': expected a positive integer}}
  reprise.rule must_save match {every = 0}
}

// -----

reprise.policy @every_text {
  // expected-error @+1 {{'reprise.rule' op 'every': expected a positive integer}}
  reprise.rule must_save match {every = "2"}
}

// -----

reprise.policy @op {
  // expected-error @+1 {{'reprise.rule' op 'op': expected a string}}
  reprise.rule must_save match {op = 2}
}

// -----

reprise.policy @glob {
  // expected-error @+1 {{'reprise.rule' op 'op': invalid glob pattern, unmatched '['}}
  reprise.rule must_save match {op = "[a"}
}

// -----

reprise.policy @bytes {
  // expected-error @+1 {{'reprise.rule' op 'bytes': expected a comparison such as '>=1MiB', not 'much'}}
  reprise.rule must_save match {bytes = "much"}
}

// -----

reprise.policy @empty {
  // expected-error @+1 {{'reprise.rule' op expected 'match' with one key or more}}
  reprise.rule must_save match {}
}

// -----

reprise.policy @twice {
  // expected-error @+1 {{'op' stands twice}}
  reprise.rule must_save match {op = "add", op = "mul"}
}

// -----

reprise.policy @value {
  // expected-error @+1 {{expected a string or an integer}}
  reprise.rule must_save match {op = [1]}
}

// -----

reprise.policy @label {
  // expected-error @+1 {{expected a label, such as must_save, or 'policy'}}
  reprise.rule must_keep
}

// -----

reprise.policy @default {
  // expected-error @+1 {{'reprise.rule' op is the default rule and must come last}}
  reprise.rule prefer_save
  reprise.rule prefer_recompute match {op = "add"}
}

// -----

reprise.policy @other_ops {
  // expected-error @+1 {{expected a reprise.rule}}
  reprise.yield
}

// -----

reprise.policy @policy_and_label {
  // expected-error @+1 {{'reprise.rule' op expected neither a label nor a match beside a policy}}
  "reprise.rule"() {policy = "save-all", label = #reprise.label<must_save>} : () -> ()
}

// -----

reprise.policy @nothing {
  // expected-error @+1 {{'reprise.rule' op expected a label or a policy}}
  "reprise.rule"() : () -> ()
}

// -----

// expected-error @+1 {{'reprise.policy' op expected to be private or public, got 'nested'}}
"reprise.policy"() <{sym_name = "nested", sym_visibility = "nested"}> ({
^bb0:
}) : () -> ()

// -----

func.func @elsewhere() {
  // expected-error @+1 {{'reprise.rule' op expects parent op 'reprise.policy'}}
  reprise.rule prefer_save
  return
}

// -----

// expected-note @+1 {{see existing symbol definition here}}
reprise.policy @twice {
}
// expected-error @+1 {{redefinition of symbol named 'twice'}}
reprise.policy @twice {
}
