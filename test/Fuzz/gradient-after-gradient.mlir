// Replays of the second gradient's body read a result of the first one: that outlives its own gradient, and no backward
// pass of its own reads it.
// RUN: reprise-fuzz check %s
func.func @train(%x: tensor<5xf16> {reprise.init = #reprise.normal<0.0, 1.0>}) -> (tensor<f64>, tensor<5xf16>) {
  %0:2 = reprise.value_and_grad (%a = %x) wrt [0] : (tensor<5xf16>) -> (tensor<f64>, tensor<5xf16>) {
    %c = reprise.cast %a : tensor<5xf16> to tensor<5xf64>
    %s = reprise.sum %c dims [0] : (tensor<5xf64>) -> tensor<f64>
    reprise.yield %s : tensor<f64>
  }
  %1:2 = reprise.value_and_grad (%a = %0#0) wrt [0] : (tensor<f64>) -> (tensor<bf16>, tensor<f64>) {
    %c = reprise.cast %a : tensor<f64> to tensor<bf16>
    %b = reprise.broadcast %c dims [] : (tensor<bf16>) -> tensor<6x2x4xbf16>
    %t = reprise.sigmoid %b : tensor<6x2x4xbf16>
    %s = reprise.sum %t dims [0, 1, 2] : (tensor<6x2x4xbf16>) -> tensor<bf16>
    reprise.yield %s : tensor<bf16>
  }
  return %1#1, %0#1 : tensor<f64>, tensor<5xf16>
}
