// RUN: reprise-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expected at least one device}}
reprise.program @none devices [] () {
  reprise.return
}

// -----

// expected-error @below {{device 2 is listed twice}}
reprise.program @twice devices [2, 0, 2] () {
  reprise.return
}

// -----

// expected-error @below {{expected devices from 0 to 1023, got -1}}
reprise.program @negative devices [-1] () {
  reprise.return
}

// -----

// expected-error @below {{expected devices from 0 to 1023, got 1024}}
reprise.program @large devices [0, 1024] () {
  reprise.return
}

// -----

// expected-error @below {{expected 'devices'}}
reprise.program @unnamed (%x: tensor<4xf32>) {
  reprise.return
}

// -----

reprise.program @types devices [0] (%x: tensor<4xf32>) -> tensor<2xf32> {
  // expected-error @below {{expected operands of the types of the program's results}}
  reprise.return %x : tensor<4xf32>
}

// -----

reprise.program @count devices [0] (%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expected operands of the types of the program's results}}
  reprise.return
}

// -----

func.func @outside(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects parent op 'reprise.program'}}
  reprise.return %x : tensor<4xf32>
}

// -----

reprise.program @function devices [0] (%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects parent op 'func.func'}}
  func.return %x : tensor<4xf32>
}

// -----

reprise.program @yield devices [0] (%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{cannot end a device program; expected reprise.return}}
  reprise.yield %x : tensor<4xf32>
}

// -----

// expected-error @below {{expected a body that ends in reprise.return}}
reprise.program @open devices [0] () {
  llvm.unreachable
}

// -----

// expected-error @below {{failed to verify constraint: region with 1 blocks}}
reprise.program @empty devices [0] () {
}

// -----

// expected-error @below {{failed to verify constraint: region with 1 blocks}}
"reprise.program"() <{sym_name = "external", function_type = () -> (), devices = array<i64: 0>}> ({}) : () -> ()

// -----

// expected-error @below {{failed to verify constraint: region with 1 blocks}}
reprise.program @blocks devices [0] () {
  cf.br ^next
^next:
  reprise.return
}

// -----

func.func @inner() {
  // expected-error @below {{expects parent op 'builtin.module'}}
  reprise.program @nested devices [0] () {
    reprise.return
  }
  return
}

// -----

// expected-error @below {{unknown attribute 'reprise.device'}}
func.func @old() attributes {reprise.device = 0 : i64} {
  return
}
