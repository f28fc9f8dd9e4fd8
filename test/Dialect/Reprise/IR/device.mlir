// RUN: reprise-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expected 'reprise.device' to be the number of a device}}
func.func @f() attributes {reprise.device = "first"} {
  return
}

// -----

// expected-error @below {{expected 'reprise.device' to be the number of a device}}
func.func @f() attributes {reprise.device = -1 : i64} {
  return
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expected 'reprise.device' on a function}}
  %y = reprise.exp %x {reprise.device = 0 : i64} : tensor<4xf32>
  return %y : tensor<4xf32>
}
