// RUN: reprise-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(func.func(reprise-mark-stages))"
// RUN: not reprise-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(reprise-mark-stages{at=tail}))" 2>&1 | FileCheck %s

// CHECK: error: no op of the forward pass has the scope 'tail'
func.func @jump(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = reprise.exp %x : tensor<4xf32>
  // expected-error @below {{expected 'reprise.stage' 0 or 1: stages begin one after the other, from 0 on}}
  %1 = reprise.neg %0 {reprise.stage = 2 : i64} : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @back(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = reprise.exp %x {reprise.stage = 1 : i64} : tensor<4xf32>
  // expected-error @below {{expected 'reprise.stage' 1 or 2}}
  %1 = reprise.neg %0 {reprise.stage = 0 : i64} : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// CHECK: error: a stage cannot begin at 'tail', where the forward pass begins: the first stage would be empty
func.func @first(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = reprise.exp %x : tensor<4xf32> loc("tail/exp")
  return %0 : tensor<4xf32>
}
