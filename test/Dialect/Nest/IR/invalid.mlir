// RUN: reprise-opt %s -split-input-file -verify-diagnostics

nest.program @p elements 8 shared 0 {
  // expected-error @+1 {{expected at least one column}}
  nest.kernel rows(%i = 8) buffers(%y = output 0) {
  }
}

// -----

nest.program @p elements 8 shared 0 {
  // expected-error @+1 {{expected a stride for each of 2 loops, got 1}}
  nest.kernel rows(%i = 2) columns(%j = 4) strides [1] buffers(%y = output 0) {
  }
}

// -----

nest.program @p elements 8 shared 0 {
  // expected-error @+1 {{attribute 'columns' failed to satisfy constraint}}
  nest.kernel columns(%j = 0) buffers(%y = output 0) {
  }
}

// -----

nest.program @p elements 8 shared 0 {
  // expected-error @+1 {{expected input, output, shared or stream}}
  nest.kernel columns(%j = 8) buffers(%y = result 0) {
  }
}

// -----

nest.program @p elements 8 shared 0 {
  // expected-error @+1 {{expected an argument for each of 1 loops, got 0}}
  "nest.kernel"() <{outer = array<i64>, rows = array<i64>, columns = array<i64: 8>, strides = array<i64>,
                    slots = array<i64>}> ({
    %0 = nest.tile : tensor<f32>
  }) : () -> ()
}

// -----

nest.program @p elements 8 shared 0 {
  // expected-error @+1 {{expected indices of loops, then buffers, as arguments, got 'f32' as number 1}}
  "nest.kernel"() <{outer = array<i64>, rows = array<i64>, columns = array<i64: 8>, strides = array<i64>,
                    slots = array<i64: 0, 0, 0>}> ({
  ^bb0(%i: index, %x: f32):
    %0 = nest.tile : tensor<f32>
  }) : () -> ()
}

// -----

nest.program @p elements 8 shared 0 {
  // expected-error @+1 {{expected three numbers for each of 1 buffers, got 2}}
  "nest.kernel"() <{outer = array<i64>, rows = array<i64>, columns = array<i64: 8>, strides = array<i64>,
                    slots = array<i64: 0, 0>}> ({
  ^bb0(%i: index, %x: !nest.buffer):
    %0 = nest.tile : tensor<f32>
  }) : () -> ()
}

// -----

nest.program @p elements 8 shared 0 {
  // expected-error @+1 {{has a buffer of an unknown kind, or with a negative index or offset}}
  "nest.kernel"() <{outer = array<i64>, rows = array<i64>, columns = array<i64: 8>, strides = array<i64>,
                    slots = array<i64: 4, 0, 0>}> ({
  ^bb0(%i: index, %x: !nest.buffer):
    %0 = nest.tile : tensor<f32>
  }) : () -> ()
}

// -----

nest.program @p elements 8 shared 0 {
  nest.kernel columns(%j = 8) buffers(%x = input 0) {
    %0 = nest.read %x[%j] : tensor<f32>
    // expected-error @+1 {{is no arithmetic on elements, so a kernel cannot hold it}}
    %1 = reprise.sum %0 dims [] : (tensor<f32>) -> tensor<f32>
  }
}

// -----

nest.program @p elements 8 shared 0 {
  nest.kernel columns(%j = 8) buffers(%x = input 0) {
    // expected-error @+1 {{expected results of rank 0, since ops in a kernel compute single elements}}
    %0 = reprise.constant dense<1.0> : tensor<8xf32>
  }
}

// -----

nest.program @p elements 8 shared 0 {
  nest.kernel columns(%j = 8) buffers(%x = input 0) {
    // expected-error @+1 {{expected a coefficient per index, and an offset, got 1 numbers for 1 indices}}
    %0 = "nest.number"(%j) <{coefficients = array<i64: 0>}> : (index) -> tensor<f32>
  }
}

// -----

nest.program @p elements 8 shared 0 {
  nest.kernel columns(%j = 8) buffers(%x = input 0) {
    // expected-error @+1 {{containing one of the following enum values for attribute 'fold' [sum, product, max, min]}}
    %0 = nest.sequence mean(%k = 3) {
    } : tensor<f32>
  }
}

// -----

nest.program @p elements 8 shared 0 {
  nest.kernel columns(%j = 8) buffers(%x = input 0) {
    // expected-error @+1 {{expected an element of 'tensor<f32>', got 'tensor<f64>'}}
    %0 = nest.sequence sum(%k = 3) {
      %1 = nest.read %x[%k] : tensor<f64>
      nest.yield %1 : tensor<f64>
    } : tensor<f32>
  }
}

// -----

nest.program @p elements 8 shared 0 {
  nest.kernel columns(%j = 8) buffers(%x = input 0) {
    %0 = nest.read %x[0] : tensor<i64>
    // expected-error @+1 {{expected one op that draws an element of its type, without a seed}}
    %1 = nest.draw[%j] stream %0 seed %0 offset %0 {
      %2 = reprise.constant dense<1.0> : tensor<f32>
    } : tensor<f32>
  }
}

// -----

nest.program @p elements 8 shared 0 {
  nest.kernel columns(%j = 8) buffers(%x = input 0) {
    %0 = nest.read %x[0] : tensor<i64>
    // expected-error @+1 {{expected a number per dimension of what is drawn, 2, got 1}}
    %1 = nest.draw[%j] stream %0 seed %0 offset %0 origin %0 in [2, 4] {
      %2 = reprise.random_uniform : tensor<f32>
    } : tensor<f32>
  }
}

// -----

nest.program @p elements 8 shared 0 {
  nest.kernel columns(%j = 8) buffers(%y = output 0) {
    %0 = nest.tile : tensor<f32>
    // expected-error @+1 {{expected 'by' and a fold for a store of parts}}
    nest.store row_parts %0, %y : tensor<f32>
  }
}

// -----

nest.program @p elements 8 shared 0 {
  nest.kernel columns(%j = 8) buffers(%y = output 0) {
    %0 = nest.tile : tensor<f32>
    // expected-error @+1 {{expected no fold for a store that has no parts}}
    nest.store elements by sum %0, %y : tensor<f32>
  }
}

// -----

nest.program @p elements 8 shared 0 {
  // expected-error @+1 {{expected one op that runs alone}}
  nest.alone buffers(input 0, output 0) stored [true] {
  ^bb0(%x: tensor<8xf32>):
    %0 = reprise.neg %x : tensor<8xf32>
  }
}

// -----

nest.program @p elements 8 shared 0 {
  // expected-error @+1 {{expected an argument per operand of its op, and a word per result}}
  nest.alone buffers(input 0, output 0) stored [true, false] {
  ^bb0(%x: tensor<8xf32>):
    %0 = reprise.cumsum %x dim 0 : tensor<8xf32>
  }
}

// -----

nest.program @p elements 8 shared 0 {
  // expected-error @+1 {{expected a width that is a power of two up to 64}}
  nest.kernel columns(%j = 8) buffers(%y = output 0) schedule <width = 3, rows = 1, columns = 8> {
  }
}

// -----

nest.program @p elements 8 shared 0 {
  // expected-error @+1 {{expected at least one row and one column}}
  nest.kernel columns(%j = 8) buffers(%y = output 0) schedule <width = 4, rows = 0, columns = 8> {
  }
}

// -----

nest.program @p elements 8 shared 0 {
  // expected-error @+1 {{expected a block that is a multiple of the threads of an item}}
  nest.kernel columns(%j = 8) buffers(%y = output 0) schedule <width = 4, rows = 1, columns = 8, threads = 32, block = 40> {
  }
}
