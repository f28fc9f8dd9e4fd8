// Reads and writes at computed positions, running sums, top-k and further elementwise ops in bf16. The test of golden
// hashes reads it in f16, f32 and f64 as well: it replaces the one word.
!t = tensor<3x5000xbf16>
!n = tensor<3x64xi32>

func.func @functions(
    %x: !t {reprise.role = "input", reprise.name = "x", reprise.init = #reprise.normal<0.0, 50.0>},
    %y: !t {reprise.role = "input", reprise.name = "y", reprise.init = #reprise.normal<0.0, 3.0>},
    %far: !t {reprise.role = "input", reprise.name = "far", reprise.init = #reprise.normal<0.0, 60000.0>})
    -> (!t {reprise.name = "sin"}, !t {reprise.name = "cos"}, !t {reprise.name = "far sin"}, !t {reprise.name = "floor"},
        !t {reprise.name = "clamp"}, !t {reprise.name = "pow"}, !t {reprise.name = "whole pow"},
        tensor<3x5000xi1> {reprise.name = "logic"}) {
  %sin = reprise.sin %x : !t
  %cos = reprise.cos %x : !t
  %square = reprise.mul %far, %far : !t
  %farther = reprise.mul %square, %square : !t
  %farSin = reprise.sin %farther : !t
  %floor = reprise.floor %x : !t
  %clamp = reprise.clamp %x in [-10.0 : f64, 33.3 : f64] : !t
  %abs = reprise.abs %x : !t
  %pow = reprise.pow %abs, %y : !t
  %whole = reprise.floor %y : !t
  %wholePow = reprise.pow %x, %whole : !t
  %a = reprise.compare lt %x, %y : !t
  %b = reprise.compare lt %y, %whole : !t
  %c = reprise.compare gt %floor, %x : !t
  %not = reprise.not %a : tensor<3x5000xi1>
  %or = reprise.or %not, %b : tensor<3x5000xi1>
  %and = reprise.and %or, %a : tensor<3x5000xi1>
  %logic = reprise.xor %and, %c : tensor<3x5000xi1>
  return %sin, %cos, %farSin, %floor, %clamp, %pow, %wholePow, %logic
      : !t, !t, !t, !t, !t, !t, !t, tensor<3x5000xi1>
}

func.func @sorted(
    %x: !t {reprise.role = "input", reprise.name = "x", reprise.init = #reprise.normal<0.0, 1.0>})
    -> (!t {reprise.name = "sums"}, !t {reprise.name = "sums down"}, tensor<3x7xbf16> {reprise.name = "largest"},
        tensor<3x7xi32> {reprise.name = "where"}, tensor<5000x2xbf16> {reprise.name = "two"},
        tensor<3x99xi64> {reprise.name = "order"}, tensor<3xbf16> {reprise.name = "prod"},
        tensor<5000xbf16> {reprise.name = "column prod"}, tensor<bf16> {reprise.name = "lse"},
        tensor<5000xbf16> {reprise.name = "column lse"}) {
  %sums = reprise.cumsum %x dim 1 : !t
  %down = reprise.cumsum %x dim 0 reverse : !t
  %largest, %where = reprise.top_k %x : (!t) -> (tensor<3x7xbf16>, tensor<3x7xi32>)
  %columns = reprise.transpose %x [1, 0] : (!t) -> tensor<5000x3xbf16>
  %two, %of = reprise.top_k %columns : (tensor<5000x3xbf16>) -> (tensor<5000x2xbf16>, tensor<5000x2xi32>)
  %many, %order = reprise.top_k %x : (!t) -> (tensor<3x99xbf16>, tensor<3x99xi64>)
  %prod = reprise.prod %x dims [1] : (!t) -> tensor<3xbf16>
  %prods = reprise.prod %x dims [0] : (!t) -> tensor<5000xbf16>
  %lse = reprise.logsumexp %x dims [0, 1] : (!t) -> tensor<bf16>
  %lses = reprise.logsumexp %x dims [0] : (!t) -> tensor<5000xbf16>
  return %sums, %down, %largest, %where, %two, %order, %prod, %prods, %lse, %lses
      : !t, !t, tensor<3x7xbf16>, tensor<3x7xi32>, tensor<5000x2xbf16>, tensor<3x99xi64>, tensor<3xbf16>, tensor<5000xbf16>,
        tensor<bf16>, tensor<5000xbf16>
}

func.func @indexing(
    %x: !t {reprise.role = "input", reprise.name = "x", reprise.init = #reprise.normal<0.0, 1.0>},
    %n: !n {reprise.role = "input", reprise.name = "n", reprise.init = #reprise.uniform_int<-9, 5100>},
    %rows: tensor<8xi64> {reprise.role = "input", reprise.name = "rows", reprise.init = #reprise.uniform_int<0, 70>})
    -> (tensor<3x64xbf16> {reprise.name = "taken"}, !t {reprise.name = "added"}, tensor<70x40xbf16> {reprise.name = "replaced"},
        tensor<8x70xbf16> {reprise.name = "hot"}, tensor<2x900xbf16> {reprise.name = "window"}, !t {reprise.name = "updated"}) {
  %taken = reprise.take_along %x[%n] : (!t, !n) -> tensor<3x64xbf16>
  %added = reprise.scatter_add_along %taken at %n : (!n, tensor<3x64xbf16>) -> !t
  %part = reprise.slice %x from [0, 0] to [1, 2800] by [1, 1] : (!t) -> tensor<1x2800xbf16>
  %table = reprise.reshape %part : (tensor<1x2800xbf16>) -> tensor<70x40xbf16>
  %new = reprise.slice %table from [60, 0] to [68, 40] by [1, 1] : (tensor<70x40xbf16>) -> tensor<8x40xbf16>
  %replaced = reprise.scatter %new into %table at %rows : (tensor<70x40xbf16>, tensor<8xi64>, tensor<8x40xbf16>) -> tensor<70x40xbf16>
  %hot = reprise.one_hot %rows : (tensor<8xi64>) -> tensor<8x70xbf16>
  %starts = reprise.slice %rows from [0] to [2] by [1] : (tensor<8xi64>) -> tensor<2xi64>
  %window = reprise.dynamic_slice %x at %starts : (!t, tensor<2xi64>) -> tensor<2x900xbf16>
  %twice = reprise.add %window, %window : tensor<2x900xbf16>
  %updated = reprise.dynamic_update %twice into %x at %starts : (!t, tensor<2x900xbf16>, tensor<2xi64>) -> !t
  return %taken, %added, %replaced, %hot, %window, %updated
      : tensor<3x64xbf16>, !t, tensor<70x40xbf16>, tensor<8x70xbf16>, tensor<2x900xbf16>, !t
}
