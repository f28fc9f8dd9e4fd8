// Loops: what the verifier refuses.
// RUN: reprise-opt %s -verify-diagnostics -split-input-file

func.func @no_iterations(%x: tensor<2xf32>) {
  // expected-error@+1 {{'reprise.loop' op expected a trip count of at least 1, got 0}}
  %0 = reprise.loop 0 (%c = %x) : (tensor<2xf32>) -> tensor<2xf32> {
    reprise.yield %c : tensor<2xf32>
  }
  return
}

// -----

func.func @negative(%x: tensor<2xf32>) {
  // expected-error@+1 {{'reprise.loop' op expected a trip count of at least 1, got -4}}
  %0 = reprise.loop -4 (%c = %x) : (tensor<2xf32>) -> tensor<2xf32> {
    reprise.yield %c : tensor<2xf32>
  }
  return
}

// -----

func.func @rows(%x: tensor<2xf32>) {
  // expected-error@+1 {{'reprise.loop' op expected 3 rows, one per iteration, but slice 0 is of 'tensor<2xf32>'}}
  %0 = reprise.loop 3 () over (%s = %x) : (tensor<2xf32>) -> tensor<3xf32> {
    reprise.yield %s : tensor<f32>
  }
  return
}

// -----

func.func @scalar(%x: tensor<f32>) {
  // expected-error@+1 {{expected a tensor with a leading dimension to iterate over, got 'tensor<f32>'}}
  %0 = reprise.loop 3 () over (%s = %x) : (tensor<f32>) -> tensor<3xf32> {
    reprise.yield %s : tensor<f32>
  }
  return
}

// -----

func.func @types(%x: tensor<2xf32>) {
  // expected-error@+1 {{expected one type per operand}}
  %0 = reprise.loop 3 (%c = %x) : () -> tensor<2xf32> {
    reprise.yield %c : tensor<2xf32>
  }
  return
}

// -----

func.func @carries(%x: tensor<2xf32>) {
  %0 = reprise.loop 3 (%c = %x) : (tensor<2xf32>) -> tensor<2xf64> {
    %1 = reprise.cast %c : tensor<2xf32> to tensor<2xf64>
    // expected-error@+1 {{'reprise.yield' op expected the next carries first, of the types of the first ones}}
    reprise.yield %1 : tensor<2xf64>
  }
  return
}

// -----

func.func @results(%x: tensor<2xf32>) {
  // expected-error@+1 {{'reprise.loop' op expected the last carries and one stack per row that is yielded: 'tensor<2xf32>', 'tensor<3x2xf32>'}}
  %0, %1 = reprise.loop 3 (%c = %x) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    reprise.yield %c, %c : tensor<2xf32>, tensor<2xf32>
  }
  return
}

// -----

func.func @arguments(%x: tensor<2xf32>) {
  // expected-error@+1 {{'reprise.loop' op expected a body of arguments 'tensor<2xf32>'}}
  "reprise.loop"(%x) <{trip = 3 : i64, operandSegmentSizes = array<i32: 1, 0>}> ({
    reprise.yield %x : tensor<2xf32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @yield(%x: tensor<2xf32>) {
  // expected-error@+1 {{'reprise.loop' op expected a body that ends in reprise.yield}}
  "reprise.loop"() <{trip = 3 : i64, operandSegmentSizes = array<i32: 0, 0>}> ({
    %0 = reprise.iota dim 0 : tensor<2xi32>
    return
  }) : () -> ()
  return
}
