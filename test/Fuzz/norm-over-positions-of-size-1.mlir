// The channels' rows run over samples, as each image is one position: what is computed from a row's elements and its
// mean cannot be stored by the nest that reduces, whose lanes are no neighbours.
// RUN: reprise-fuzz check %s
func.func @train(%x: tensor<16x32x1xf32> {reprise.init = #reprise.normal<0.0, 1.0>},
                 %w: tensor<32xf32> {reprise.init = #reprise.normal<0.0, 1.0>}) -> tensor<16x32x1xf32> {
  %y, %mean, %deviation = reprise.batch_norm %x, %w, %w {epsilon = 0.1 : f64}
    : (tensor<16x32x1xf32>, tensor<32xf32>, tensor<32xf32>) -> (tensor<16x32x1xf32>, tensor<32xf32>, tensor<32xf32>)
  return %y : tensor<16x32x1xf32>
}
