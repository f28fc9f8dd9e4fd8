// Attributes of a step that is cut.
// RUN: reprise-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expected 'pipe.cuts' to be one or more #pipe.cut}}
module attributes {pipe.cuts = []} {
}

// -----

// expected-error @below {{expected 'pipe.timing' to be a #pipe.timing}}
module attributes {pipe.timing = 1 : i64} {
}

// -----

func.func @elsewhere(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expected 'pipe.cuts' on a function or on a module}}
  %0 = reprise.exp %x {pipe.cuts = [#pipe.cut<schedule = "1f1b", chunks = 1, units = [0, 1], makespan = 1.0, state = fits>]} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @below {{expected one or more chunks per device, got 0}}
module attributes {pipe.cuts = [#pipe.cut<schedule = "1f1b", chunks = 0, units = [0, 1], makespan = 1.0, state = fits>]} {
}

// -----

// expected-error @below {{expected units that begin at 0 and ascend from stage to stage}}
module attributes {pipe.cuts = [#pipe.cut<schedule = "1f1b", chunks = 1, units = [0, 2, 2], makespan = 1.0, state = fits>]} {
}

// -----

// expected-error @below {{expected the makespan as f64, got 'f32'}}
module attributes {pipe.cuts = [#pipe.cut<schedule = "1f1b", chunks = 1, units = [0, 1], makespan = 1.0 : f32, state = fits>]} {
}

// -----

// expected-error @below {{expected the rows of a schedule as strings}}
module attributes {pipe.timing = #pipe.timing<rows = [1, "1F0, 1B0"], microbatches = 1, forward = [1.0, 1.0], backward = [1.0, 1.0], weight = [0.0, 0.0], replay = [0.0, 0.0], from = [0], to = [1], there = [1.0], back = [1.0], buffers = 2>} {
}

// -----

// expected-error @below {{the pieces are those of 2 stages, expected 1}}
module attributes {pipe.timing = #pipe.timing<rows = ["0F0, 0B0", "1F0, 1B0"], microbatches = 1, forward = [1.0], backward = [1.0, 1.0], weight = [0.0, 0.0], replay = [0.0, 0.0], from = [0], to = [1], there = [1.0], back = [1.0], buffers = 2>} {
}

// -----

// expected-error @below {{expected seconds of 2 stages}}
module attributes {pipe.timing = #pipe.timing<rows = ["0F0, 0B0", "1F0, 1B0"], microbatches = 1, forward = [1.0, 1.0], backward = [1.0, 1.0], weight = [0.0, 0.0], replay = [0.0], from = [0], to = [1], there = [1.0], back = [1.0], buffers = 2>} {
}

// -----

// expected-error @below {{expected the ends and the seconds of 1 transfers}}
module attributes {pipe.timing = #pipe.timing<rows = ["0F0, 0B0", "1F0, 1B0"], microbatches = 1, forward = [1.0, 1.0], backward = [1.0, 1.0], weight = [0.0, 0.0], replay = [0.0, 0.0], from = [0], to = [1], there = [], back = [1.0], buffers = 2>} {
}

// -----

// expected-error @below {{expected transfers to later stages, got one from stage 0 to stage 2}}
module attributes {pipe.timing = #pipe.timing<rows = ["0F0, 0B0", "1F0, 1B0"], microbatches = 1, forward = [1.0, 1.0], backward = [1.0, 1.0], weight = [0.0, 0.0], replay = [0.0, 0.0], from = [0], to = [2], there = [1.0], back = [1.0], buffers = 2>} {
}

// -----

// expected-error @below {{expected one or more buffers, got 0}}
module attributes {pipe.timing = #pipe.timing<rows = ["0F0, 0B0", "1F0, 1B0"], microbatches = 1, forward = [1.0, 1.0], backward = [1.0, 1.0], weight = [0.0, 0.0], replay = [0.0, 0.0], from = [0], to = [1], there = [1.0], back = [1.0], buffers = 0>} {
}
