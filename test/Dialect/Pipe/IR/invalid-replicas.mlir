// Each rule about replicas is broken once.
// RUN: reprise-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expected replicas of equally many micro-batches, got 2 for 3 micro-batches}}
pipe.schedule @uneven stages 1 microbatches 3 replicas 2 [0F0, 0B0]

// -----

pipe.schedule @shared stages 1 microbatches 2 replicas 2 [0F0, 0B0]
reprise.program @others devices [0] () attributes {pipe.schedule = @shared} {
  // expected-error @below {{expected replica 1 for micro-batch 1, got replica 0}}
  pipe.piece forward stage 0 microbatch 1 {
  }
  reprise.return
}

// -----

pipe.schedule @shared stages 1 microbatches 2 replicas 2 [0F0, 0B0]
reprise.program @third devices [0] () attributes {pipe.schedule = @shared} {
  // expected-error @below {{the schedule does not have this piece}}
  pipe.piece after stage 0 replica 2 {
  }
  reprise.return
}

// -----

pipe.schedule @shared stages 1 microbatches 2 replicas 2 [0F0, 0B0]
reprise.program @across devices [0] (%x: tensor<4xf32>) attributes {pipe.schedule = @shared} {
  // expected-note @below {{that piece}}
  %0 = pipe.piece forward stage 0 microbatch 0 -> tensor<4xf32> {
    %a = reprise.exp %x : tensor<4xf32>
    pipe.yield %a : tensor<4xf32>
  }
  // expected-error @below {{reads a value of a pass of another replica}}
  %1 = pipe.piece forward stage 0 replica 1 microbatch 1 -> tensor<4xf32> {
    %a = reprise.exp %0 : tensor<4xf32>
    pipe.yield %a : tensor<4xf32>
  }
  reprise.return
}

// -----

pipe.schedule @shared stages 1 microbatches 2 replicas 2 [0F0, 0B0]
reprise.program @step_1 devices [1] () attributes {reprise.entry = "step", pipe.schedule = @shared} {
  // expected-error @below {{stands in the program of device 1, its stage lies on device 0}}
  pipe.piece forward stage 0 microbatch 0 {
  }
  reprise.return
}

// -----

pipe.schedule @shared stages 1 microbatches 2 replicas 2 [0F0, 0B0]
reprise.program @early devices [0] () attributes {pipe.schedule = @shared} {
  // expected-error @below {{expected no segment of a piece before all micro-batches}}
  pipe.piece before stage 0 segment 1 {
  }
  reprise.return
}

// -----

pipe.schedule @shared stages 1 microbatches 2 replicas 2 [0F0, 0B0]
reprise.program @twice devices [0] () attributes {pipe.schedule = @shared} {
  // expected-note @below {{the other one}}
  pipe.piece backward stage 0 microbatch 0 segment 1 {
  }
  // expected-error @below {{stands twice}}
  pipe.piece backward stage 0 microbatch 0 segment 1 {
  }
  reprise.return
}

// -----

// A sum behind segment 1 stands behind segment 2.
pipe.schedule @shared stages 1 microbatches 2 replicas 2 [0F0, 0B0]
reprise.program @late devices [0] () attributes {pipe.schedule = @shared, reprise.entry = "step"} {
  pipe.piece forward stage 0 microbatch 0 {
  }
  pipe.piece backward stage 0 microbatch 0 segment 0 {
  }
  pipe.piece backward stage 0 microbatch 0 segment 2 {
  }
  // expected-error @below {{stands in another place than the schedule says}}
  pipe.piece after stage 0 segment 1 {
  }
  reprise.return
}
