// The last dimension is reduced but has size 1, so neighbours in a row of the reduction are no neighbours in memory: what
// is stored beside it needs a loop nest of its own.
// RUN: reprise-fuzz check %s
func.func @train(%x: tensor<12x2x1xf32> {reprise.init = #reprise.normal<0.0, 1.0>}) -> (tensor<12x2x1xf32>, tensor<2xf32>) {
  %0 = reprise.neg %x : tensor<12x2x1xf32>
  %1 = reprise.sum %0 dims [0, 2] : (tensor<12x2x1xf32>) -> tensor<2xf32>
  return %0, %1 : tensor<12x2x1xf32>, tensor<2xf32>
}
