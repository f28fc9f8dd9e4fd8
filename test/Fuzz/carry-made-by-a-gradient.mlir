// What one iteration hands to the next comes out of a gradient in the body, whose ops must be replayed.
// RUN: reprise-fuzz check %s
module {
  func.func @train(%arg0: tensor<f64> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}, %arg1: tensor<7xf64> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}, %arg2: tensor<4xi32> {reprise.init = #reprise.uniform_int<0, 4>}) -> (tensor<7xf64>, tensor<f64>) {
    %0:8 = reprise.value_and_grad @f0(%arg1, %arg0, %arg2) wrt [0, 1] of [0, 1] : (tensor<7xf64>, tensor<f64>, tensor<4xi32>) -> (tensor<f64>, tensor<f64>, tensor<1xi64>, tensor<1x1x4x32xi32>, tensor<7xf64>, tensor<f64>, tensor<7xf64>, tensor<f64>)
    return %0#4, %0#5 : tensor<7xf64>, tensor<f64>
  }
  func.func private @f0(%arg0: tensor<7xf64>, %arg1: tensor<f64>, %arg2: tensor<4xi32>) -> (tensor<f64>, tensor<f64>, tensor<1xi64>, tensor<1x1x4x32xi32>) {
    %0:4 = reprise.loop 2 (%arg3 = %arg1, %arg4 = %arg1) reverse : (tensor<f64>, tensor<f64>) -> (tensor<f64>, tensor<f64>, tensor<2x2x4x4x4x2x4x4xf64>, tensor<2x4x4xbf16>) {
      %7:6 = reprise.value_and_grad @f1(%arg3, %arg3, %arg3) wrt [0, 1, 2] : (tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<bf16>, tensor<bf16>, tensor<bf16>, tensor<f64>, tensor<f64>, tensor<f64>)
      %8 = reprise.constant dense<1.000000e+00> : tensor<4x4xbf16>
      %9 = reprise.constant dense<1.000000e+00> : tensor<2x4x4x4x2x4x4xf64>
      %10 = reprise.broadcast %arg4 dims [] : (tensor<f64>) -> tensor<2x4x4x4x2x4x4xf64>
      %11 = reprise.mul %9, %10 : tensor<2x4x4x4x2x4x4xf64>
      reprise.yield %7#3, %7#5, %11, %8 : tensor<f64>, tensor<f64>, tensor<2x4x4x4x2x4x4xf64>, tensor<4x4xbf16>
    }
    %1 = reprise.constant dense<1> : tensor<1x1x4x32xi32>
    %2 = reprise.constant dense<1> : tensor<1xi64>
    %3 = reprise.constant dense<1.000000e+00> : tensor<f64>
    %4 = reprise.sum %0#2 dims [0, 1, 2, 3, 4, 5, 6, 7] : (tensor<2x2x4x4x4x2x4x4xf64>) -> tensor<f64>
    %5 = reprise.add %3, %4 : tensor<f64>
    %6 = reprise.constant dense<1.000000e+00> : tensor<f64>
    return %5, %6, %2, %1 : tensor<f64>, tensor<f64>, tensor<1xi64>, tensor<1x1x4x32xi32>
  }
  func.func private @f1(%arg0: tensor<f64>, %arg1: tensor<f64>, %arg2: tensor<f64>) -> (tensor<bf16>, tensor<bf16>, tensor<bf16>) {
    %0 = reprise.cast %arg0 {reprise.label = #reprise.label<must_recompute>} : tensor<f64> to tensor<bf16>
    %1 = reprise.broadcast %0 dims [] : (tensor<bf16>) -> tensor<5x5x1x15x5xbf16>
    %2 = reprise.reshape %1 : (tensor<5x5x1x15x5xbf16>) -> tensor<1875xbf16>
    %3 = reprise.slice %2 from [154] to [1757] by [267] : (tensor<1875xbf16>) -> tensor<7xbf16>
    %4 = reprise.pow %3, %3 : tensor<7xbf16>
    %5 = reprise.constant dense<1.000000e+00> : tensor<bf16>
    %6 = reprise.slice %4 from [2] to [3] by [1] : (tensor<7xbf16>) -> tensor<1xbf16>
    %7 = reprise.reshape %6 : (tensor<1xbf16>) -> tensor<bf16>
    %8 = reprise.mul %5, %7 : tensor<bf16>
    %9 = reprise.constant dense<1.000000e+00> : tensor<bf16>
    return %8, %8, %9 : tensor<bf16>, tensor<bf16>, tensor<bf16>
  }
}
