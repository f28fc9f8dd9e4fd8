// Elementary functions, draws, long reductions and movement in bf16, on values of many sizes. The test of golden hashes
// reads it in f16, f32 and f64 as well: it replaces the one word.
!t = tensor<3x5000xbf16>

func.func @elementwise(
    %x: !t {reprise.role = "input", reprise.name = "x", reprise.init = #reprise.normal<0.0, 4.0>},
    %u: !t {reprise.role = "input", reprise.name = "u", reprise.init = #reprise.uniform<0.001, 60.0>})
    -> (!t {reprise.name = "exp"}, !t {reprise.name = "log"}, !t {reprise.name = "sqrt"}, !t {reprise.name = "rsqrt"},
        !t {reprise.name = "tanh"}, !t {reprise.name = "erf"}, !t {reprise.name = "sigmoid"}, !t {reprise.name = "silu"},
        !t {reprise.name = "gelu"}, !t {reprise.name = "div"}, !t {reprise.name = "chosen"}, tensor<3x5000xi32> {reprise.name = "whole"}) {
  %exp = reprise.exp %x : !t
  %log = reprise.log %u : !t
  %sqrt = reprise.sqrt %u : !t
  %rsqrt = reprise.rsqrt %u : !t
  %tanh = reprise.tanh %x : !t
  %erf = reprise.erf %x : !t
  %sigmoid = reprise.sigmoid %x : !t
  %silu = reprise.silu %x : !t
  %gelu = reprise.gelu %x {form = #reprise<gelu_form tanh>} : !t
  %div = reprise.div %x, %u : !t
  %less = reprise.compare lt %x, %u : !t
  %chosen = reprise.select %less, %silu, %div : tensor<3x5000xi1>, !t
  %whole = reprise.cast %x : !t to tensor<3x5000xi32>
  return %exp, %log, %sqrt, %rsqrt, %tanh, %erf, %sigmoid, %silu, %gelu, %div, %chosen, %whole
      : !t, !t, !t, !t, !t, !t, !t, !t, !t, !t, !t, tensor<3x5000xi32>
}

func.func @draws()
    -> (!t {reprise.name = "uniform"}, !t {reprise.name = "normal"}, tensor<3x5000xi1> {reprise.name = "bernoulli"},
        tensor<77xi64> {reprise.name = "whole"}) {
  %uniform = reprise.random_uniform {low = -1.0 : f64, high = 2.0 : f64} : !t
  %normal = reprise.random_normal {std = 0.5 : f64} : !t
  %bernoulli = reprise.random_bernoulli {probability = 0.3 : f64} : tensor<3x5000xi1>
  %whole = reprise.random_uniform_int {low = -5 : i64, high = 1000000 : i64} : tensor<77xi64>
  return %uniform, %normal, %bernoulli, %whole : !t, !t, tensor<3x5000xi1>, tensor<77xi64>
}

func.func @reductions(
    %x: !t {reprise.role = "input", reprise.name = "x", reprise.init = #reprise.normal<0.0, 1.0>},
    %rows: tensor<3x5000xi32> {reprise.role = "input", reprise.name = "rows", reprise.init = #reprise.uniform_int<0, 70>})
    -> (tensor<3xbf16> {reprise.name = "row sums"}, tensor<5000xbf16> {reprise.name = "column means"},
        tensor<bf16> {reprise.name = "max"}, tensor<bf16> {reprise.name = "min"}, tensor<3xi32> {reprise.name = "argmax"},
        !t {reprise.name = "softmax"}, !t {reprise.name = "log softmax"}, tensor<70xbf16> {reprise.name = "scattered"},
        tensor<3x3xbf16> {reprise.name = "gram"}, tensor<7x5001xbf16> {reprise.name = "padded"}) {
  %sums = reprise.sum %x dims [1] : (!t) -> tensor<3xbf16>
  %means = reprise.mean %x dims [0] : (!t) -> tensor<5000xbf16>
  %max = reprise.max %x dims [0, 1] : (!t) -> tensor<bf16>
  %min = reprise.min %x dims [0, 1] : (!t) -> tensor<bf16>
  %argmax = reprise.argmax %x dim 1 : (!t) -> tensor<3xi32>
  %softmax = reprise.softmax %x : !t
  %logs = reprise.log_softmax %x : !t
  %scattered = reprise.scatter_add %x at %rows : (tensor<3x5000xi32>, !t) -> tensor<70xbf16>
  %gram = reprise.dot_general %x, %x contracting [1] x [1] : (!t, !t) -> tensor<3x3xbf16>
  %both = reprise.concatenate %x, %softmax dim 0 : (!t, !t) -> tensor<6x5000xbf16>
  %padded = reprise.pad %both with 1.5 : bf16 low [1, 0] high [0, 1] interior [0, 0] : (tensor<6x5000xbf16>) -> tensor<7x5001xbf16>
  return %sums, %means, %max, %min, %argmax, %softmax, %logs, %scattered, %gram, %padded
      : tensor<3xbf16>, tensor<5000xbf16>, tensor<bf16>, tensor<bf16>, tensor<3xi32>, !t, !t, tensor<70xbf16>,
        tensor<3x3xbf16>, tensor<7x5001xbf16>
}

func.func @lanes(
    %x: !t {reprise.role = "input", reprise.name = "x", reprise.init = #reprise.normal<0.0, 1.0>},
    %y: tensor<8x25x40xbf16> {reprise.role = "input", reprise.name = "y", reprise.init = #reprise.normal<0.0, 1.0>},
    %z: tensor<40x8x9xbf16> {reprise.role = "input", reprise.name = "z", reprise.init = #reprise.normal<0.0, 1.0>})
    -> (tensor<3x3xbf16> {reprise.name = "gram"}, tensor<25x9xbf16> {reprise.name = "product"}) {
  %gram = reprise.dot_lanes %x, %x lanes 8 along 0 contracting [1] x [1] : (!t, !t) -> tensor<3x3xbf16>
  %product = reprise.dot_lanes %y, %z lanes 4 along 1 contracting [2, 0] x [0, 1] : (tensor<8x25x40xbf16>, tensor<40x8x9xbf16>) -> tensor<25x9xbf16>
  return %gram, %product : tensor<3x3xbf16>, tensor<25x9xbf16>
}

func.func @pieces(
    %x: !t {reprise.role = "input", reprise.name = "x", reprise.init = #reprise.normal<0.0, 4.0>},
    %n: tensor<3x50xi32> {reprise.role = "input", reprise.name = "n", reprise.init = #reprise.uniform_int<-70, 70>},
    %d: tensor<3x50xi32> {reprise.role = "input", reprise.name = "d", reprise.init = #reprise.uniform_int<-3, 4>})
    -> (!t {reprise.name = "abs"}, tensor<3x50xi32> {reprise.name = "rem"}, tensor<3x50xi32> {reprise.name = "quotient"},
        tensor<60x250xbf16> {reprise.name = "reshaped"}, tensor<2x1666xbf16> {reprise.name = "sliced"}) {
  %abs = reprise.abs %x : !t
  %rem = reprise.rem %n, %d : tensor<3x50xi32>
  %quotient = reprise.div %n, %d : tensor<3x50xi32>
  %waiting = reprise.offload %abs : !t
  %reshaped = reprise.reshape %waiting : (!t) -> tensor<60x250xbf16>
  %sliced = reprise.slice %x from [1, 2] to [3, 5000] by [1, 3] : (!t) -> tensor<2x1666xbf16>
  return %abs, %rem, %quotient, %reshaped, %sliced
      : !t, tensor<3x50xi32>, tensor<3x50xi32>, tensor<60x250xbf16>, tensor<2x1666xbf16>
}

func.func @words(
    %n: tensor<3x50xi32> {reprise.role = "input", reprise.name = "n", reprise.init = #reprise.uniform_int<-70, 70>},
    %d: tensor<3x50xi32> {reprise.role = "input", reprise.name = "d", reprise.init = #reprise.uniform_int<0, 40>})
    -> (tensor<3x50xi32> {reprise.name = "left"}, tensor<3x50xi32> {reprise.name = "right"},
        tensor<3x50xf32> {reprise.name = "floats"}) {
  %left = reprise.shift_left %n, %d : tensor<3x50xi32>
  %right = reprise.shift_right %n, %d : tensor<3x50xi32>
  %floats = reprise.bitcast %left : tensor<3x50xi32> to tensor<3x50xf32>
  return %left, %right, %floats : tensor<3x50xi32>, tensor<3x50xi32>, tensor<3x50xf32>
}

func.func @pause(
    %x: !t {reprise.role = "input", reprise.name = "x", reprise.init = #reprise.normal<0.0, 4.0>},
    %late: !t {reprise.role = "input", reprise.name = "late", reprise.init = #reprise.normal<0.0, 1.0>})
    -> (!t {reprise.name = "tanh"}, !t {reprise.name = "product"}) {
  %tanh = reprise.tanh %x : !t
  %given = reprise.pause (%tanh) then (%late) : (!t, !t) -> !t
  %product = reprise.mul %tanh, %given : !t
  return %tanh, %product : !t, !t
}
