// RUN: reprise-opt %s --reprise-checkpoint --split-input-file --verify-diagnostics

reprise.program @impure devices [0] (%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected a pure op: run reprise-thread-random first}}
  %a = reprise.dropout %x {rate = 0.5 : f32, reprise.primal} : tensor<4xf32>
  reprise.return %a : tensor<4xf32>
}

// -----

reprise.program @planned devices [0] (%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected a graph without replays}}
  %a = reprise.exp %x {replay = 1 : i64} : tensor<4xf32>
  reprise.return %a : tensor<4xf32>
}

// -----

reprise.program @nested devices [0] (%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected flat ops: run reprise-differentiate first}}
  %a = reprise.block {
    %b = reprise.exp %x : tensor<4xf32>
    reprise.yield %b : tensor<4xf32>
  } {reprise.primal} : tensor<4xf32>
  reprise.return %a : tensor<4xf32>
}
