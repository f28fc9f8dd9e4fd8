// Rows of values that are made of all samples: tables of them grow while they are made.
// RUN: reprise-fuzz check --kind=batches %s
module {
  func.func private @f(%arg0: tensor<9x88xf16>, %arg1: tensor<1x22xf16>) -> tensor<f16> {
    %0 = reprise.reshape %arg0 : (tensor<9x88xf16>) -> tensor<9x22x4xf16>
    %1 = reprise.prod %0 dims [0, 2] : (tensor<9x22x4xf16>) -> tensor<22xf16>
    %2 = reprise.reshape %arg1 : (tensor<1x22xf16>) -> tensor<22xf16>
    %3 = reprise.add %1, %2 : tensor<22xf16>
    %4 = reprise.mul %3, %3 : tensor<22xf16>
    %5 = reprise.prod %4 dims [0] : (tensor<22xf16>) -> tensor<f16>
    return %5 : tensor<f16>
  }
  func.func @train(%arg0: tensor<9x88xf16> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>, reprise.name = "a0", reprise.role = "input"}, %arg1: tensor<1x22xf16> {reprise.batch_dim = 1 : i64, reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>, reprise.name = "a1", reprise.role = "input"}) -> (tensor<1x22xf16> {reprise.name = "a1"}, tensor<9x88xf16> {reprise.name = "a0"}, tensor<f16> {reprise.name = "r2"}) {
    %0:3 = reprise.value_and_grad @f(%arg0, %arg1) wrt [0, 1] : (tensor<9x88xf16>, tensor<1x22xf16>) -> (tensor<f16>, tensor<9x88xf16>, tensor<1x22xf16>)
    return %0#2, %0#1, %0#0 : tensor<1x22xf16>, tensor<9x88xf16>, tensor<f16>
  }
}
