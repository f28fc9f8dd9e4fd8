// A contraction reads a window of an intermediate value that starts anywhere, not at a multiple of a buffer's alignment.
// RUN: reprise-fuzz check %s
func.func @train(%x: tensor<17xf32> {reprise.init = #reprise.normal<0.0, 1.0>},
                 %y: tensor<5xf32> {reprise.init = #reprise.normal<0.0, 1.0>}) -> (tensor<5xf32>, tensor<17xf32>) {
  %exp = reprise.exp %x : tensor<17xf32>
  %window = reprise.slice %exp from [3] to [8] by [1] : (tensor<17xf32>) -> tensor<5xf32>
  %dot = reprise.dot_general %window, %y contracting [] x [] : (tensor<5xf32>, tensor<5xf32>) -> tensor<5x5xf32>
  %sum = reprise.sum %dot dims [0] : (tensor<5x5xf32>) -> tensor<5xf32>
  return %sum, %exp : tensor<5xf32>, tensor<17xf32>
}
