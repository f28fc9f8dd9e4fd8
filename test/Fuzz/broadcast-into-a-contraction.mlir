// All lanes of a packed operand are one element where its innermost dimension is a broadcast.
// RUN: reprise-fuzz check %s
func.func @train(%x: tensor<4xf32> {reprise.init = #reprise.normal<0.0, 1.0>},
                 %y: tensor<f32> {reprise.init = #reprise.normal<0.0, 1.0>}) -> tensor<4x4xf32> {
  %0 = reprise.broadcast %x dims [0] : (tensor<4xf32>) -> tensor<4x4xf32>
  %1 = reprise.dot_general %0, %y contracting [] x [] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
