// RUN: reprise-opt %s --exec-verify-programs -split-input-file -verify-diagnostics -o /dev/null

// Nothing to say.
reprise.program @first devices [0] (%x: tensor<4xf32> {reprise.name = "x", reprise.role = "input"}) -> (tensor<4xf32> {reprise.name = "y"}) {
  %y, %arrived = exec.receive from @second tag 1 : tensor<4xf32>
  %sent = exec.send %x to @second tag 1 : tensor<4xf32>
  exec.wait %arrived
  exec.wait %sent
  reprise.return %y : tensor<4xf32>
}
reprise.program @second devices [1] (%x: tensor<4xf32> {reprise.name = "x", reprise.role = "input"}) {
  %y, %arrived = exec.receive from @first tag 1 : tensor<4xf32>
  %sent = exec.send %x to @first tag 1 : tensor<4xf32>
  exec.wait %arrived
  exec.wait %sent
  reprise.return
}

// -----

// Rows in loops meet by their order: the second one of three finds no partner.
reprise.program @first devices [0] () {
  reprise.loop 3 () : () -> () {
    // expected-error@below {{no other program has the other side of 'first' receives 'tensor<4xf32>' from 'second' with tag 1}}
    %y, %arrived = exec.receive from @second tag 1 : tensor<4xf32>
    exec.wait %arrived
    reprise.yield
  }
  reprise.return
}
reprise.program @second devices [1] (%x: tensor<4xf32> {reprise.name = "x", reprise.role = "input"}) {
  %sent = exec.send %x to @first tag 1 : tensor<4xf32>
  exec.wait %sent
  reprise.return
}

// -----

reprise.program @first devices [0] () {
  // expected-note@below {{'first' receives 'tensor<2xf32>' from 'second' with tag 1}}
  %y, %arrived = exec.receive from @second tag 1 : tensor<2xf32>
  exec.wait %arrived
  reprise.return
}
reprise.program @second devices [1] (%x: tensor<4xf32> {reprise.name = "x", reprise.role = "input"}) {
  // expected-error@below {{the two sides differ in size: 'second' sends 'tensor<4xf32>' to 'first' with tag 1}}
  %sent = exec.send %x to @first tag 1 : tensor<4xf32>
  exec.wait %sent
  reprise.return
}

// -----

reprise.program @first devices [0] () {
  // expected-error@below {{there is no device program 'third'}}
  %y, %arrived = exec.receive from @third tag 1 : tensor<2xf32>
  exec.wait %arrived
  reprise.return
}
reprise.program @second devices [1] () {
  reprise.return
}

// -----

// expected-note@below {{the other program}}
reprise.program @first devices [0] (%w: tensor<4xf32> {reprise.name = "w", reprise.role = "parameter"}) -> (tensor<4xf32> {reprise.name = "w"}) {
  %0 = reprise.exp %w : tensor<4xf32>
  reprise.return %0 : tensor<4xf32>
}
// expected-error@below {{the device program 'second' takes 'w', whose next value another program makes}}
reprise.program @second devices [1] (%w: tensor<4xf32> {reprise.name = "w", reprise.role = "parameter"}) {
  reprise.return
}

// -----

// expected-note@below {{the other program}}
reprise.program @first devices [0] (%w: tensor<4xf32> {reprise.name = "w", reprise.role = "parameter", reprise.init = #reprise.fill<1.0>}) {
  reprise.return
}
// expected-error@below {{takes 'w' with another type, role or initializer than another program}}
reprise.program @second devices [1] (%w: tensor<4xf32> {reprise.name = "w", reprise.role = "parameter", reprise.init = #reprise.fill<2.0>}) {
  reprise.return
}

// -----

// expected-note@below {{the other program}}
reprise.program @first devices [0] (%x: tensor<f32> {reprise.name = "x", reprise.role = "input"}) -> (tensor<f32> {reprise.name = "y"}) {
  reprise.return %x : tensor<f32>
}
// expected-error@below {{the device program 'second' returns 'y', as another program does}}
reprise.program @second devices [1] (%x: tensor<f32> {reprise.name = "x", reprise.role = "input"}) -> (tensor<f32> {reprise.name = "y"}) {
  reprise.return %x : tensor<f32>
}

// -----

// expected-error@below {{expected one program per device, numbered from 0: got device 1 instead of 0}}
reprise.program @first devices [1] () {
  reprise.return
}

// -----

// expected-note@below {{another one}}
reprise.program @first devices [0] () {
  reprise.return
}
// expected-error@below {{expected one program of device 0}}
reprise.program @second devices [0] () {
  reprise.return
}

// -----

// expected-note@below {{another one}}
reprise.program @first devices [0, 1] () {
  reprise.return
}
// expected-error@below {{expected one program of device 1}}
reprise.program @second devices [1] () {
  reprise.return
}

// -----

// expected-error@below {{argument 0 has no role: expected input, parameter, state, seed or offset}}
reprise.program @roles devices [0] (%x: tensor<f32> {reprise.name = "x"}) {
  reprise.return
}

// -----

// expected-error@below {{argument 0 has no name of its own}}
reprise.program @names devices [0] (%x: tensor<f32> {reprise.role = "input"}) {
  reprise.return
}

// -----

// expected-error@below {{two arguments have the name or the role 'x'}}
reprise.program @twice devices [0] (%x: tensor<f32> {reprise.name = "x", reprise.role = "input"}, %y: tensor<f32> {reprise.name = "x", reprise.role = "input"}) {
  reprise.return
}

// -----

// expected-error@below {{argument 0 is not a tensor of the dialect}}
reprise.program @type devices [0] (%x: tensor<2xi8> {reprise.name = "x", reprise.role = "input"}) {
  reprise.return
}

// -----

// expected-error@below {{expected an argument with the role seed, from which initial values are drawn}}
reprise.program @drawn devices [0] (%x: tensor<f32> {reprise.name = "x", reprise.role = "input", reprise.init = #reprise.normal<0.0, 1.0>}) {
  reprise.return
}

// -----

// expected-error@below {{result 0 has no name of its own}}
reprise.program @result devices [0] (%x: tensor<f32> {reprise.name = "x", reprise.role = "input"}) -> tensor<f32> {
  reprise.return %x : tensor<f32>
}

// -----

// expected-error@below {{result 'x' has type 'tensor<2xf32>', and the argument of that name another one}}
reprise.program @next devices [0] (%x: tensor<f32> {reprise.name = "x", reprise.role = "input"}, %y: tensor<2xf32> {reprise.name = "y", reprise.role = "input"}) -> (tensor<2xf32> {reprise.name = "x"}) {
  reprise.return %y : tensor<2xf32>
}

// -----

reprise.program @shapes devices [0] (%x: tensor<f32> {reprise.name = "x", reprise.role = "input"}, %y: tensor<2xf32> {reprise.name = "y", reprise.role = "input"}) {
  // expected-error@below {{expected operands of the result's shape: broadcasts are ops}}
  %0 = reprise.add %x, %y : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  reprise.return
}

// -----

reprise.program @effects devices [0] () {
  // expected-error@below {{expected an op that 'autodiff' leaves in a device program, got 'reprise.random_normal'}}
  %0 = reprise.random_normal : tensor<2xf32>
  reprise.return
}

// -----

reprise.program @places devices [0] (%x: tensor<f32> {reprise.name = "x", reprise.role = "input"}) {
  // expected-error@below {{expected no place: the memory phase gives it}}
  %0, %arrived = exec.receive from @other tag 1 {arguments = array<i64: -1>, offsets = array<i64: 0>} : tensor<2xf32>
  exec.wait %arrived
  reprise.return
}
