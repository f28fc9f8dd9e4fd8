// Nests and schedules that do not fit their launch or target.
// RUN: reprise-opt %s -split-input-file --exec-place-buffers=target=cpu:x86-64-v3 --exec-emit-nests=target=cpu:x86-64-v3 -verify-diagnostics

nest.program @tile elements 8 shared 0 {
  nest.kernel columns(%j = 8) buffers(%y = output 0) {
    // expected-error @+1 {{is the element of a contraction, without which the nest has no kernel}}
    %0 = nest.tile : tensor<f32>
    nest.store elements %0, %y : tensor<f32>
  }
}

// -----

nest.program @threads elements 8 shared 0 {
  // expected-error @+1 {{has a schedule that does not fit this target: it needs threads = 0}}
  nest.kernel columns(%j = 8) buffers(%x = input 0, %y = output 0) schedule <width = 4, rows = 1, columns = 4, threads = 1, block = 256> {
    %0 = nest.read %x[%j] : tensor<f32>
    nest.store elements %0, %y : tensor<f32>
  }
}

// -----

nest.program @lanes elements 16 shared 0 {
  // expected-error @+1 {{it needs width = 32}}
  nest.kernel rows(%i = 2) columns(%j = 8) buffers(%x = input 0, %y = output 0) schedule <width = 8, rows = 2, columns = 8> {
    %0 = nest.read %x[%i * 8 + %j] : tensor<f32>
    %1 = nest.reduce sum %0 : tensor<f32>
    nest.store rows %1, %y : tensor<f32>
  }
}

// -----

nest.program @whole_rows elements 16 shared 0 {
  // expected-error @+1 {{it needs columns = 8}}
  nest.kernel rows(%i = 2) columns(%j = 8) buffers(%x = input 0, %y = output 0) schedule <width = 32, rows = 2, columns = 4> {
    %0 = nest.read %x[%i * 8 + %j] : tensor<f32>
    %1 = nest.reduce sum %0 : tensor<f32>
    nest.store rows %1, %y : tensor<f32>
  }
}

// -----

nest.program @blocks elements 600 shared 24 {
  // expected-error @+1 {{it needs rows = 64}}
  nest.kernel rows(%i = 200) columns(%j = 3) buffers(%x = input 0, %p = shared 0) schedule <width = 4, rows = 32, columns = 3> {
    %0 = nest.read %x[%i * 3 + %j] : tensor<f32>
    nest.store row_parts by sum %0, %p : tensor<f32>
  }
}

// -----

nest.program @branches elements 8 shared 0 {
  // expected-error @+1 {{it needs width = 1}}
  nest.kernel columns(%j = 8) buffers(%x = input 0, %y = output 0) schedule <width = 8, rows = 1, columns = 8> {
    %0 = nest.read %x[%j] : tensor<f32>
    %1 = reprise.constant dense<1.0> : tensor<f32>
    %2 = nest.choose %0 if[%j] in 0 to 8 step 2 else %1 : tensor<f32>
    nest.store elements %2, %y : tensor<f32>
  }
}

// -----

reprise.program @none devices [0] (%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{names nests that do not exist: @missing}}
  %0 = exec.launch (%a = %x) : (tensor<8xf32>) -> tensor<8xf32> {
    %1 = reprise.exp %a : tensor<8xf32>
    exec.return %1 : tensor<8xf32>
  } {exec.nests = @missing}
  reprise.return %0 : tensor<8xf32>
}

// -----

nest.program @buffers elements 8 shared 0 {
  // expected-error @+1 {{has a buffer input 1, and the launch has 1 input}}
  nest.kernel columns(%j = 8) buffers(%x = input 1, %y = output 0) {
    %0 = nest.read %x[%j] : tensor<f32>
    nest.store elements %0, %y : tensor<f32>
  }
}
reprise.program @few devices [0] (%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = exec.launch (%a = %x) : (tensor<8xf32>) -> tensor<8xf32> {
    %1 = reprise.exp %a : tensor<8xf32>
    exec.return %1 : tensor<8xf32>
  } {exec.nests = @buffers}
  reprise.return %0 : tensor<8xf32>
}

// -----

nest.program @types elements 8 shared 0 {
  nest.kernel columns(%j = 8) buffers(%x = input 0, %y = output 0) {
    // expected-error @+1 {{is of another element type than the launch's value}}
    %0 = nest.read %x[%j] : tensor<bf16>
    nest.store elements %0, %y : tensor<bf16>
  }
}
reprise.program @other devices [0] (%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = exec.launch (%a = %x) : (tensor<8xf32>) -> tensor<8xf32> {
    %1 = reprise.exp %a : tensor<8xf32>
    exec.return %1 : tensor<8xf32>
  } {exec.nests = @types}
  reprise.return %0 : tensor<8xf32>
}

// -----

// expected-error @+1 {{stores no output 0}}
nest.program @nothing elements 8 shared 32 {
  nest.kernel columns(%j = 8) buffers(%x = input 0, %y = shared 0) {
    %0 = nest.read %x[%j] : tensor<f32>
    nest.store elements %0, %y : tensor<f32>
  }
}
reprise.program @lost devices [0] (%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = exec.launch (%a = %x) : (tensor<8xf32>) -> tensor<8xf32> {
    %1 = reprise.exp %a : tensor<8xf32>
    exec.return %1 : tensor<8xf32>
  } {exec.nests = @nothing}
  reprise.return %0 : tensor<8xf32>
}

// -----

// expected-error @+1 {{expected at least 8 elements}}
nest.program @small elements 4 shared 0 {
  nest.kernel columns(%j = 8) buffers(%x = input 0, %y = output 0) {
    %0 = nest.read %x[%j] : tensor<f32>
    nest.store elements %0, %y : tensor<f32>
  }
}
reprise.program @large devices [0] (%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = exec.launch (%a = %x) : (tensor<8xf32>) -> tensor<8xf32> {
    %1 = reprise.exp %a : tensor<8xf32>
    exec.return %1 : tensor<8xf32>
  } {exec.nests = @small}
  reprise.return %0 : tensor<8xf32>
}

// -----

// expected-error @+1 {{a contraction's blocks are finished by the nest that the target makes, and this nest differs from it}}
nest.program @epilogue elements 64 shared 0 {
  nest.kernel outer(%o = 1) rows(%i = 8) columns(%j = 8) buffers(%y = output 0) {
    %0 = nest.tile : tensor<f32>
    %1 = reprise.tanh %0 : tensor<f32>
    nest.store elements %1, %y : tensor<f32>
  }
}
reprise.program @contraction devices [0] (%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = exec.launch (%a = %x) : (tensor<8x8xf32>) -> tensor<8x8xf32> {
    %1 = reprise.dot_general %a, %a contracting [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %2 = reprise.exp %1 : tensor<8x8xf32>
    exec.return %2 : tensor<8x8xf32>
  } {exec.nests = @epilogue}
  reprise.return %0 : tensor<8x8xf32>
}

// -----

reprise.program @no_nest devices [0] (%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{the group holds an op that no loop nest computes}}
  %0 = exec.launch (%a = %x) : (tensor<8x8xf32>) -> tensor<8x8xf32> {
    %1 = reprise.dot_general %a, %a contracting [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %2 = reprise.transpose %1 [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    exec.return %2 : tensor<8x8xf32>
  }
  reprise.return %0 : tensor<8x8xf32>
}
