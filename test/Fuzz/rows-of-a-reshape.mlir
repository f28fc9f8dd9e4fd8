// Rows of a reshape whose dimensions share a factor at first, and none behind it.
// RUN: reprise-fuzz check --kind=batches %s
module {
  func.func @train(%arg0: tensor<1x16x162xbf16> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>, reprise.name = "a0", reprise.role = "state"}, %arg1: tensor<4xbf16> {reprise.batch_dim = 0 : i64, reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>, reprise.name = "a1", reprise.role = "input"}, %arg2: tensor<4xf32> {reprise.batch_dim = 0 : i64, reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>, reprise.name = "a2", reprise.role = "input"}) -> (tensor<1x4x9x72xbf16> {reprise.name = "r2"}) {
    %0 = reprise.reshape %arg0 : (tensor<1x16x162xbf16>) -> tensor<1x4x4x162xbf16>
    %1 = reprise.reshape %0 : (tensor<1x4x4x162xbf16>) -> tensor<1x4x9x72xbf16>
    %2 = reprise.batch_norm_inference %1, %arg1, %arg1, %arg2, %arg2 {epsilon = 1.000000e-05 : f64} : (tensor<1x4x9x72xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x9x72xbf16>
    return %2 : tensor<1x4x9x72xbf16>
  }
}
