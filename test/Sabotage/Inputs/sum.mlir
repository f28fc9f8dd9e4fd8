// A contraction whose terms are cut into two parts of eight, and the rule that cuts them.
func.func @train(%x: tensor<4x16xf32> {reprise.name = "x", reprise.role = "input", reprise.init = #reprise.normal<0.0, 1.0>},
                 %v: tensor<16x8xf32> {reprise.name = "v", reprise.role = "parameter", reprise.init = #reprise.normal<0.0, 0.5>})
    -> (tensor<4x8xf32> {reprise.name = "y"}) {
  %0 = reprise.dot_general %x, %v contracting [1] x [0] : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
