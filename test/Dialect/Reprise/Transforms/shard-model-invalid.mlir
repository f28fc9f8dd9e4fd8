// RUN: reprise-opt %s -verify-diagnostics --pass-pipeline='builtin.module(reprise.program(reprise-shard-model{lanes=2 rules=%S/Inputs/shards-of-tables.json}))'

// Rows of a table stay together.
reprise.program @step devices [0] (%at: tensor<3xi32> {reprise.name = "at", reprise.role = "input"},
    // expected-error@+1 {{no op can be cut along dimension 0 of 'table', which a sharding cuts}}
                                   %table: tensor<6x8xf32> {reprise.name = "table", reprise.role = "parameter"}) -> tensor<3x8xf32> {
  // expected-note@+1 {{reprise.gather reads the whole dimension}}
  %0 = reprise.gather %table[%at] : (tensor<6x8xf32>, tensor<3xi32>) -> tensor<3x8xf32>
  reprise.return %0 : tensor<3x8xf32>
}
