// Each rule of the dialect's verifiers is broken once. Schedules are judged with a counterexample.
// RUN: reprise-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{stage 1, backward of micro-batch 1 is missing}}
pipe.schedule @missing stages 2 microbatches 2 [0F0, 0F1, 0B0, 0B1] [1F0, 1B0, 1F1]

// -----

// expected-error @below {{stage 0, backward of micro-batch 0 stands on rank 0 twice}}
pipe.schedule @twice stages 2 microbatches 1 [0F0, 0B0, 0B0] [1F0, 1B0]

// -----

// expected-error @below {{stage 0, backward of micro-batch 1 comes before that of micro-batch 0}}
pipe.schedule @swapped stages 2 microbatches 2 [0F0, 0F1, 0B1, 0B0] [1F0, 1B0, 1F1, 1B1]

// -----

// expected-error @below {{ranks wait for each other for ever; rank 0 stands before stage 0, backward of micro-batch 0, which waits for stage 1, backward of micro-batch 0; rank 1 stands before stage 1, forward of micro-batch 1, which waits for stage 0, forward of micro-batch 1}}
pipe.schedule @circle stages 2 microbatches 2 [0F0, 0B0, 0F1, 0B1] [1F0, 1F1, 1B0, 1B1]

// -----

// expected-error @below {{stage 1, forward of micro-batch 0 stands on rank 0, its stage lies on rank 1}}
pipe.schedule @elsewhere stages 2 microbatches 1 [1F0, 1B0] [0F0, 0B0]

// -----

// expected-error @below {{the pieces are those of 2 stages, expected 4}}
pipe.schedule @stages stages 4 microbatches 1 [0F0, 0B0] [1F0, 1B0]

// -----

// expected-error @below {{stage 0, forward of micro-batch 1 is no piece of this pipeline}}
pipe.schedule @microbatches stages 1 microbatches 1 [0F0, 0F1, 0B0, 0B1]

// -----

// expected-error @below {{expected a piece such as 2F0, got '0X0'}}
pipe.schedule @letter stages 1 microbatches 1 [0X0]

// -----

// expected-error @below {{expected a row of pieces for each device}}
"pipe.schedule"() <{sym_name = "empty", stages = 1 : i64, microbatches = 1 : i64, rows = [""]}> : () -> ()

// -----

// expected-error @below {{expected at least one piece}}
"pipe.schedule"() <{sym_name = "none", stages = 1 : i64, microbatches = 1 : i64, rows = []}> : () -> ()

// -----

// expected-error @below {{there are 1 pieces, fewer than stages or micro-batches}}
pipe.schedule @few stages 3 microbatches 1 [2F0]

// -----

// expected-error @below {{there are 1 pieces, fewer than stages or micro-batches}}
pipe.schedule @huge stages 16777215 microbatches 1 [16777214F0]

// -----

// expected-error @below {{there are 1 pieces, fewer than stages or micro-batches}}
pipe.schedule @long stages 1 microbatches 9223372036854775807 [0F0]

// -----

// expected-error @below {{attribute 'rounds' failed to satisfy constraint}}
pipe.schedule @rounds stages 1 microbatches 1 rounds 65537 [0F0, 0B0]

// -----

// expected-error @below {{attribute 'rounds' failed to satisfy constraint}}
pipe.schedule @rounds stages 1 microbatches 1 rounds 0 [0F0, 0B0]

// -----

reprise.program @rows devices [0] (%x: tensor<5x4xf32>) {
  // expected-error @below {{expected a result of type 'tensor<2x4xf32>', got 'tensor<3x4xf32>'}}
  %0 = pipe.slice %x microbatch 1 of 2 dim 0 : tensor<5x4xf32> -> tensor<3x4xf32>
  reprise.return
}

// -----

reprise.program @samples devices [0] (%x: tensor<5x4xf32>) {
  // expected-error @below {{there is no micro-batch 2 of 2 with 5 samples}}
  %0 = pipe.slice %x microbatch 2 of 2 dim 0 : tensor<5x4xf32> -> tensor<2x4xf32>
  reprise.return
}

// -----

reprise.program @fewer devices [0] (%x: tensor<5x4xf32>) {
  // expected-error @below {{there is no micro-batch 0 of 6 with 5 samples}}
  %0 = pipe.slice %x microbatch 0 of 6 dim 0 : tensor<5x4xf32> -> tensor<0x4xf32>
  reprise.return
}

// -----

reprise.program @each devices [0] (%x: tensor<5x4xf32>) {
  // expected-error @below {{expected 2 rows per sample, and the dimension has 5}}
  %0 = pipe.slice %x microbatch 0 of 2 dim 0 rows 2 : tensor<5x4xf32> -> tensor<2x4xf32>
  reprise.return
}

// -----

reprise.program @dim devices [0] (%x: tensor<5x4xf32>) {
  // expected-error @below {{expected a dimension of the value, of known size}}
  %0 = pipe.slice %x microbatch 0 of 2 dim 2 : tensor<5x4xf32> -> tensor<2x4xf32>
  reprise.return
}

// -----

reprise.program @order devices [0] (%x: tensor<4xf32>) {
  // expected-note @below {{the sum so far}}
  %0 = pipe.accumulate %x, %x microbatch 2 : tensor<4xf32>
  // expected-error @below {{adds up micro-batch 1 behind micro-batch 2}}
  %1 = pipe.accumulate %0, %x microbatch 1 : tensor<4xf32>
  reprise.return
}

// -----

reprise.program @tree devices [0] (%x: tensor<4xf32>) {
  // expected-error @below {{lanes 2 to 4 and 4 to 6 are no neighbours in the tree}}
  %0 = pipe.merge %x, %x lanes 2 to 4 to 6 : tensor<4xf32>
  reprise.return
}

// -----

reprise.program @larger devices [0] (%x: tensor<4xf32>) {
  // expected-error @below {{lanes 0 to 1 and 1 to 3 are no neighbours in the tree}}
  %0 = pipe.merge %x, %x lanes 0 to 1 to 3 : tensor<4xf32>
  reprise.return
}

// -----

reprise.program @odd devices [0] (%x: tensor<4xf32>) {
  // expected-error @below {{lanes 0 to 3 and 3 to 4 are no neighbours in the tree}}
  %0 = pipe.merge %x, %x lanes 0 to 3 to 4 : tensor<4xf32>
  reprise.return
}

// -----

reprise.program @block devices [0] (%x: tensor<4xf32>) {
  // expected-note @below {{the sum of lanes}}
  %0 = pipe.merge %x, %x lanes 0 to 1 to 2 : tensor<4xf32>
  // expected-error @below {{expected the sum of lanes 2 to 4, got lanes 0 to 2}}
  %1 = pipe.merge %0, %0 lanes 0 to 2 to 4 : tensor<4xf32>
  reprise.return
}

// -----

pipe.schedule @order stages 1 microbatches 1 [0F0, 0B0]
reprise.program @pass devices [0] () attributes {pipe.schedule = @order} {
  // expected-error @below {{expected the micro-batch of the pass}}
  pipe.piece forward stage 0 {
  }
  reprise.return
}

// -----

pipe.schedule @order stages 1 microbatches 1 [0F0, 0B0]
reprise.program @before devices [0] () attributes {pipe.schedule = @order} {
  // expected-error @below {{expected no micro-batch for a piece before or after all micro-batches}}
  pipe.piece before stage 0 microbatch 0 {
  }
  reprise.return
}

// -----

pipe.schedule @order stages 1 microbatches 1 [0F0, 0B0]
reprise.program @round devices [0] () attributes {pipe.schedule = @order} {
  // expected-error @below {{expected round 0 for a piece before or after all micro-batches}}
  pipe.piece after stage 0 round 1 {
  }
  reprise.return
}

// -----

pipe.schedule @order stages 1 microbatches 1 [0F0, 0B0]
reprise.program @yield devices [0] (%x: tensor<4xf32>) attributes {pipe.schedule = @order} {
  // expected-error @below {{expected a body that yields values of the results' types}}
  %0 = pipe.piece forward stage 0 microbatch 0 -> tensor<8xf32> {
    pipe.yield %x : tensor<4xf32>
  }
  reprise.return
}

// -----

reprise.program @unnamed devices [0] () {
  // expected-error @below {{expected a function that names the schedule of its pieces in 'pipe.schedule'}}
  pipe.piece forward stage 0 microbatch 0 {
  }
  reprise.return
}

// -----

reprise.program @nowhere devices [0] () attributes {pipe.schedule = @order} {
  // expected-error @below {{expected a function that names the schedule of its pieces in 'pipe.schedule'}}
  pipe.piece forward stage 0 microbatch 0 {
  }
  reprise.return
}

// -----

// expected-error @below {{expected 'pipe.schedule' to be the symbol of a schedule}}
reprise.program @number devices [0] () attributes {pipe.schedule = 1 : i64} {
  reprise.return
}

// -----

reprise.program @unknown devices [0] (%x: tensor<4xf32>) {
  // expected-error @below {{unknown attribute 'pipe.color'}}
  %0 = reprise.exp %x {pipe.color = 1 : i64} : tensor<4xf32>
  reprise.return
}

// -----

// expected-error @below {{expected 'pipe.home' to be an i64 from 0 to 2^20 - 1 (argument 0)}}
reprise.program @home devices [0] (%x: tensor<4xf32> {pipe.home = "first"}) {
  reprise.return
}

// -----

pipe.schedule @order stages 1 microbatches 1 [0F0, 0B0]
reprise.program @stage devices [0] () attributes {pipe.schedule = @order} {
  // expected-error @below {{the schedule does not have this piece}}
  pipe.piece forward stage 1 microbatch 0 {
  }
  reprise.return
}

// -----

pipe.schedule @order stages 1 microbatches 1 [0F0, 0B0]
reprise.program @weight devices [0] () attributes {pipe.schedule = @order} {
  // expected-error @below {{the schedule does not have this piece}}
  pipe.piece weight stage 0 microbatch 0 {
  }
  reprise.return
}

// -----

pipe.schedule @order stages 1 microbatches 1 [0F0, 0B0]
reprise.program @again devices [0] () attributes {pipe.schedule = @order} {
  // expected-note @below {{the other one}}
  pipe.piece forward stage 0 microbatch 0 {
  }
  // expected-error @below {{stands twice}}
  pipe.piece forward stage 0 microbatch 0 {
  }
  reprise.return
}

// -----

// In the program's order this is right, and under a schedule that runs all forward passes first it is not.
pipe.schedule @order stages 1 microbatches 2 [0F0, 0F1, 0B0, 0B1]
reprise.program @later devices [0] (%x: tensor<4xf32>) attributes {pipe.schedule = @order} {
  // expected-note @below {{that piece}}
  %0 = pipe.piece backward stage 0 microbatch 0 -> tensor<4xf32> {
    %a = reprise.exp %x : tensor<4xf32>
    pipe.yield %a : tensor<4xf32>
  }
  // expected-error @below {{reads a value that a later piece makes}}
  pipe.piece forward stage 0 microbatch 1 {
    %b = reprise.exp %0 : tensor<4xf32>
  }
  reprise.return
}

// -----

// A backward pass goes down the stages.
pipe.schedule @order stages 2 microbatches 1 [0F0, 0B0] [1F0, 1B0]
reprise.program @down devices [0] (%x: tensor<4xf32>) attributes {pipe.schedule = @order} {
  // expected-note @below {{that piece}}
  %0 = pipe.piece backward stage 0 microbatch 0 -> tensor<4xf32> {
    %a = reprise.exp %x : tensor<4xf32>
    pipe.yield %a : tensor<4xf32>
  }
  // expected-error @below {{reads a value that a later piece makes}}
  pipe.piece backward stage 1 microbatch 0 {
    %b = reprise.exp %0 : tensor<4xf32>
  }
  reprise.return
}

// -----

pipe.schedule @order stages 1 microbatches 2 [0F0, 0F1, 0B0, 0B1]
reprise.program @row_0 devices [0] () attributes {reprise.entry = "row", pipe.schedule = @order} {
  pipe.piece forward stage 0 microbatch 1 {
  }
  // expected-error @below {{stands in another place than the schedule says}}
  pipe.piece forward stage 0 microbatch 0 {
  }
  reprise.return
}

// -----

pipe.schedule @order stages 1 microbatches 1 [0F0, 0B0]
reprise.program @behind_0 devices [0] () attributes {reprise.entry = "behind", pipe.schedule = @order} {
  pipe.piece forward stage 0 microbatch 0 {
  }
  // expected-error @below {{stands in another place than the schedule says}}
  pipe.piece before stage 0 {
  }
  reprise.return
}

// -----

pipe.schedule @order stages 2 microbatches 1 [0F0, 0B0] [1F0, 1B0]
reprise.program @device_0 devices [0] () attributes {reprise.entry = "device", pipe.schedule = @order} {
  // expected-error @below {{stands in the program of device 0, its stage lies on device 1}}
  pipe.piece forward stage 1 microbatch 0 {
  }
  reprise.return
}

// -----

pipe.schedule @order stages 1 microbatches 1 [0F0, 0B0]
// expected-error @below {{the schedule has no row of device 1}}
reprise.program @device_1 devices [1] () attributes {reprise.entry = "device", pipe.schedule = @order} {
  reprise.return
}

// -----

reprise.program @peer devices [0] (%x: tensor<4xf32>) {
  // expected-error @below {{there is no device program @nobody}}
  pipe.send %x as 0 to @nobody : tensor<4xf32>
  reprise.return
}

// -----

reprise.program @itself devices [0] () {
  // expected-error @below {{expected a transfer to another program}}
  %0 = pipe.receive 0 from @itself : tensor<4xf32>
  reprise.return
}

// -----

// expected-error @below {{expected 'pipe.home' on an argument of a function}}
reprise.program @home_of_a_function devices [0] () attributes {pipe.home = 0 : i64} {
  reprise.return
}

// -----

// expected-error @below {{unknown attribute 'pipe.color', expected one of pipe.schedule, pipe.home, pipe.replica, pipe.cuts, pipe.timing (result 0)}}
reprise.program @color devices [0] (%x: tensor<4xf32>) -> (tensor<4xf32> {pipe.color = 1 : i64}) {
  reprise.return %x : tensor<4xf32>
}
