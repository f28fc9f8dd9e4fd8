// The second gradient reads the loss of the first one through a broadcast. The loss outlives the first gradient, so that
// its label is moot.
// RUN: reprise-fuzz check %s
func.func @train(%x: tensor<5xf16> {reprise.init = #reprise.normal<0.0, 1.0>}) -> (tensor<f16>, tensor<5xf16>, tensor<5xf16>) {
  %0:2 = reprise.value_and_grad (%a = %x) wrt [0] : (tensor<5xf16>) -> (tensor<f16>, tensor<5xf16>) {
    %m = reprise.mean %a dims [0] : (tensor<5xf16>) -> tensor<f16>
    %e = reprise.exp %m : tensor<f16>
    %s = reprise.add %e, %m {reprise.label = #reprise.label<must_recompute>} : tensor<f16>
    reprise.yield %s : tensor<f16>
  }
  %1:2 = reprise.value_and_grad (%a = %x) wrt [0] : (tensor<5xf16>) -> (tensor<f16>, tensor<5xf16>) {
    %b = reprise.broadcast %0#0 dims [] : (tensor<f16>) -> tensor<5xf16>
    %t = reprise.mul %a, %b : tensor<5xf16>
    %s = reprise.mean %t dims [0] : (tensor<5xf16>) -> tensor<f16>
    reprise.yield %s : tensor<f16>
  }
  return %1#0, %1#1, %0#1 : tensor<f16>, tensor<5xf16>, tensor<5xf16>
}
