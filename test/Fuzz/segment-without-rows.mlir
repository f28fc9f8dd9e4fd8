// Segments are replayed as wholes, so no row is left that joins them to the backward pass.
// RUN: reprise-fuzz check %s
module {
  func.func @train(%arg0: tensor<31xbf16> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>, reprise.name = "a1", reprise.role = "state"}) -> tensor<31xbf16> {
    %0:5 = reprise.value_and_grad @f0(%arg0) wrt [0] of [0, 1] : (tensor<31xbf16>) -> (tensor<f16>, tensor<f16>, tensor<4x2xbf16>, tensor<31xbf16>, tensor<31xbf16>)
    return %0#4 : tensor<31xbf16>
  }
  func.func private @f0(%arg0: tensor<31xbf16>) -> (tensor<f16>, tensor<f16>, tensor<4x2xbf16>) {
    %0 = reprise.mean %arg0 dims [0] : (tensor<31xbf16>) -> tensor<bf16>
    %1 = reprise.broadcast %0 dims [] : (tensor<bf16>) -> tensor<2x2x1x6x1x3x2x3x2x6xbf16>
    %2 = reprise.cast %1 : tensor<2x2x1x6x1x3x2x3x2x6xbf16> to tensor<2x2x1x6x1x3x2x3x2x6xf16>
    %3 = reprise.constant dense<1.000000e+00> : tensor<1x8x33xf16>
    %4 = reprise.reshape %2 : (tensor<2x2x1x6x1x3x2x3x2x6xf16>) -> tensor<5184xf16>
    %5 = reprise.slice %4 from [126] to [390] by [1] : (tensor<5184xf16>) -> tensor<264xf16>
    %6 = reprise.reshape %5 : (tensor<264xf16>) -> tensor<1x8x33xf16>
    %7 = reprise.mul %3, %6 : tensor<1x8x33xf16>
    %8:4 = reprise.value_and_grad @f1(%7, %7, %7) wrt [0, 1] : (tensor<1x8x33xf16>, tensor<1x8x33xf16>, tensor<1x8x33xf16>) -> (tensor<f16>, tensor<4x2xf16>, tensor<1x8x33xf16>, tensor<1x8x33xf16>)
    %9 = reprise.constant dense<1.000000e+00> : tensor<1xf16>
    %10 = reprise.reshape %8#1 : (tensor<4x2xf16>) -> tensor<8xf16>
    %11 = reprise.slice %10 from [1] to [2] by [1] : (tensor<8xf16>) -> tensor<1xf16>
    %12 = reprise.mul %9, %11 : tensor<1xf16>
    %13 = reprise.constant dense<1.000000e+00> : tensor<4x2xbf16>
    %14 = reprise.constant dense<1.000000e+00> : tensor<f16>
    %15 = reprise.constant dense<1.000000e+00> : tensor<f16>
    %16 = reprise.sum %12 dims [0] : (tensor<1xf16>) -> tensor<f16>
    %17 = reprise.add %15, %16 : tensor<f16>
    return %14, %17, %13 : tensor<f16>, tensor<f16>, tensor<4x2xbf16>
  }
  func.func private @f1(%arg0: tensor<1x8x33xf16>, %arg1: tensor<1x8x33xf16>, %arg2: tensor<1x8x33xf16>) -> (tensor<f16>, tensor<4x2xf16>) {
    %0 = reprise.cast %arg2 : tensor<1x8x33xf16> to tensor<1x8x33xf32>
    %1 = reprise.reshape %0 : (tensor<1x8x33xf32>) -> tensor<264xf32>
    %2 = reprise.slice %1 from [205] to [206] by [1] : (tensor<264xf32>) -> tensor<1xf32>
    %3 = reprise.reshape %2 : (tensor<1xf32>) -> tensor<f32>
    %4 = reprise.constant dense<1.000000e+00> : tensor<3xf32>
    %5:2 = reprise.loop 4 (%arg3 = %4) : (tensor<3xf32>) -> (tensor<3xf32>, tensor<4x2xf32>) {
      %8 = reprise.constant dense<1> : tensor<2xi32>
      %9 = reprise.cast %8 {reprise.label = #reprise.label<prefer_offload>} : tensor<2xi32> to tensor<2xf32>
      %10 = reprise.broadcast %3 dims [] {reprise.label = #reprise.label<must_recompute>} : (tensor<f32>) -> tensor<2xf32>
      %11 = reprise.mul %9, %10 : tensor<2xf32>
      reprise.yield %4, %11 : tensor<3xf32>, tensor<2xf32>
    }
    %6 = reprise.cast %5#1 : tensor<4x2xf32> to tensor<4x2xf16>
    %7 = reprise.constant dense<1.000000e+00> : tensor<f16>
    return %7, %6 : tensor<f16>, tensor<4x2xf16>
  }
}
