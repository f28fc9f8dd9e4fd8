// Each sabotage edits the planned graph and turns the verifier red; the untouched graph passes.

// RUN: reprise-opt %s --reprise-checkpoint -o %t.mlir
// RUN: reprise-opt %t.mlir --reprise-verify-checkpoint | FileCheck %s --check-prefix=GOOD
// GOOD: reprise.replayed_ops = 3 : i64, reprise.saved_bytes = 16 : i64
// GOOD: %[[A1:.*]] = reprise.exp %arg0 {replay = 1
// GOOD: reprise.dropout %[[A1]] seed %arg2 offset %arg3 {{.*}}replay = 1
// GOOD: reprise.exp %arg0 {replay = 2

// A replay's offset, seed or stream moved.
// RUN: sed '/replay = 1/s/offset %arg3/offset %arg2/' %t.mlir | not reprise-opt --reprise-verify-checkpoint 2>&1 | FileCheck %s --check-prefix=OFFSET
// OFFSET: error: replay draws at another offset than its original
// OFFSET: note: the original
// RUN: sed '/replay = 1/s/seed %arg2/seed %arg3/' %t.mlir | not reprise-opt --reprise-verify-checkpoint 2>&1 | FileCheck %s --check-prefix=SEED
// SEED: error: replay draws from another seed than its original
// RUN: sed '/replay = 1/s/stream = 7/stream = 8/' %t.mlir | not reprise-opt --reprise-verify-checkpoint 2>&1 | FileCheck %s --check-prefix=STREAM
// STREAM: error: replay draws from another stream than its original
// RUN: sed '/replay = 1/s/global_shape = array<i64: 4>/global_shape = array<i64: 8>/' %t.mlir | not reprise-opt --reprise-verify-checkpoint 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: error: replay differs from its original in 'global_shape'

// An attribute, the op or an operand changed.
// RUN: sed '/replay = 1/s/rate = 5.0/rate = 2.5/' %t.mlir | not reprise-opt --reprise-verify-checkpoint 2>&1 | FileCheck %s --check-prefix=RATE
// RATE: error: replay differs from its original in 'rate'
// RUN: sed '/replay = 1/s/reprise.exp/reprise.tanh/' %t.mlir | not reprise-opt --reprise-verify-checkpoint 2>&1 | FileCheck %s --check-prefix=OP
// OP: error: replay is another op than its original
// RUN: sed '/replay = 1/s/exp %arg0/exp %arg1/' %t.mlir | not reprise-opt --reprise-verify-checkpoint 2>&1 | FileCheck %s --check-prefix=OPERAND
// OPERAND: error: operand 0 of the replay is another value than its original's
// RUN: sed '/replay = 1/s/reprise.original = [01]/reprise.original = 9/' %t.mlir | not reprise-opt --reprise-verify-checkpoint 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: expected a replay of an op of the forward part

// A label ignored: the backward pass reads the original, or the label came later than the plan.
// RUN: sed '/sabotage/s/%7 /%0 /' %t.mlir | not reprise-opt --reprise-verify-checkpoint 2>&1 | FileCheck %s --check-prefix=UNUSED
// UNUSED: error: replay is never read
// RUN: sed '/replay = 2/d; /sabotage/s/%7 /%0 /' %t.mlir | not reprise-opt --reprise-verify-checkpoint 2>&1 | FileCheck %s --check-prefix=IGNORED
// IGNORED: error: result 0 is kept against its label 'must_recompute' from op
// RUN: sed '/reprise.dropout/s/prefer_recompute/must_save/' %t.mlir | not reprise-opt --reprise-verify-checkpoint 2>&1 | FileCheck %s --check-prefix=SAVE
// SAVE: error: result 0 is replayed against its label 'must_save' from op
// RUN: sed '/reprise.log/s/prefer_save/prefer_recompute/' %t.mlir | not reprise-opt --reprise-verify-checkpoint 2>&1 | FileCheck %s --check-prefix=PREFER
// PREFER: error: result 0 is kept against its label 'prefer_recompute' from op
// RUN: sed '/reprise.log/{s/prefer_save/prefer_recompute/;s/reasons = \["op"\]/reasons = [#reprise.reason<"block input">]/}' %t.mlir | not reprise-opt --reprise-verify-checkpoint 2>&1 | FileCheck %s --check-prefix=EXCUSE
// EXCUSE: error: result 0 is kept against its label 'prefer_recompute' from op

// A decision, a reason or a total that the graph belies.
// RUN: sed '/reprise.log/s/decision<saved>/decision<"not needed">/' %t.mlir | not reprise-opt --reprise-verify-checkpoint 2>&1 | FileCheck %s --check-prefix=DECISION
// DECISION: error: result 0 is decided 'not needed', but the backward pass reads it
// RUN: sed '/reprise.log/s/reprise.decisions = \[#reprise.decision<saved>\], //' %t.mlir | not reprise-opt --reprise-verify-checkpoint 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: expected a decision and a reason per result
// RUN: sed 's/saved_bytes = 16/saved_bytes = 32/' %t.mlir | not reprise-opt --reprise-verify-checkpoint 2>&1 | FileCheck %s --check-prefix=TOTAL
// TOTAL: error: expected 'reprise.saved_bytes' to be 16, as the graph says, but it is 32
// RUN: not reprise-opt %s --reprise-verify-checkpoint 2>&1 | FileCheck %s --check-prefix=UNPLANNED
// UNPLANNED: error: expected a decision and a reason per result

// A replay that reaches the forward pass or state.
// RUN: sed 's/return %8, %arg4/return %8, %7/' %t.mlir | not reprise-opt --reprise-verify-checkpoint 2>&1 | FileCheck %s --check-prefix=STATE
// STATE: error: replay yields the next value of 's'
// RUN: sed 's/return %8, %arg4/return %7, %arg4/' %t.mlir | not reprise-opt --reprise-verify-checkpoint 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// OUTSIDE: error: replay is read outside the backward pass

// A replay before its original.
// RUN: awk '/replay = 2/ { replay = $0; next } { line[++n] = $0 } END { for (i = 1; i <= n; ++i) { if (line[i] ~ /%0 = /) print replay; print line[i] } }' %t.mlir | not reprise-opt --reprise-verify-checkpoint 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: error: replay precedes its original

reprise.program @draws devices [0] (%x: tensor<4xf32>, %dy: tensor<4xf32>, %seed: tensor<i64>, %offset: tensor<i64>, %s: tensor<4xf32> {reprise.name = "s"})
    -> (tensor<4xf32>, tensor<4xf32> {reprise.name = "s"}) {
  %a = reprise.exp %x {reprise.primal, reprise.block = array<i64: 0>, reprise.label = #reprise.label<must_recompute>, reprise.rule = "op"} : tensor<4xf32>
  %b = reprise.dropout %a seed %seed offset %offset {rate = 0.5 : f32, stream = 7 : i64, global_shape = array<i64: 4>, reprise.primal, reprise.block = array<i64: 1>, reprise.label = #reprise.label<prefer_recompute>, reprise.rule = "op"} : tensor<4xf32>
  %c = reprise.log %b {reprise.primal, reprise.block = array<i64: 1>, reprise.label = #reprise.label<prefer_save>, reprise.rule = "op"} : tensor<4xf32>
  %d = reprise.mul %dy, %c {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 1>} : tensor<4xf32>
  %e = reprise.mul %d, %b {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 1>} : tensor<4xf32>
  %f = reprise.mul %e, %a {reprise.cotangent, reprise.order = 1 : i64, reprise.block = array<i64: 0>, sabotage} : tensor<4xf32>
  reprise.return %f, %s : tensor<4xf32>, tensor<4xf32>
}
