// A cast to wider elements reads half of its argument: it must not lie on it.
// RUN: reprise-fuzz check %s
module {
  func.func @train(%arg0: tensor<4x4x4xf32> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}, %arg1: tensor<6xbf16> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}) -> tensor<6xbf16> {
    %0:6 = reprise.value_and_grad @f0(%arg0, %arg1, %arg0) wrt [0, 1, 2] : (tensor<4x4x4xf32>, tensor<6xbf16>, tensor<4x4x4xf32>) -> (tensor<f32>, tensor<4x4x4xbf16>, tensor<6xf32>, tensor<4x4x4xf32>, tensor<6xbf16>, tensor<4x4x4xf32>)
    return %0#4 : tensor<6xbf16>
  }
  func.func private @f0(%arg0: tensor<4x4x4xf32>, %arg1: tensor<6xbf16>, %arg2: tensor<4x4x4xf32>) -> (tensor<f32>, tensor<4x4x4xbf16>, tensor<6xf32>) {
    %0 = reprise.constant dense<1.000000e+00> : tensor<4x1xbf16>
    %1:2 = reprise.loop 4 (%arg3 = %arg1) over (%arg4 = %0) reverse : (tensor<6xbf16>, tensor<4x1xbf16>) -> (tensor<6xbf16>, tensor<4x4x4x1x4x4xf32>) {
      %17 = reprise.constant dense<1.000000e+00> : tensor<4x4x1x4x4xf32>
      reprise.yield %arg3, %17 : tensor<6xbf16>, tensor<4x4x1x4x4xf32>
    }
    %2 = reprise.constant dense<1.000000e+00> : tensor<4x4x4xf32>
    %3 = reprise.cast %1#0 : tensor<6xbf16> to tensor<6xf32>
    %4 = reprise.mean %3 dims [0] : (tensor<6xf32>) -> tensor<f32>
    %5 = reprise.broadcast %4 dims [] : (tensor<f32>) -> tensor<2x4x4x4x1x4x4xf32>
    %6:4 = reprise.loop 2 (%arg3 = %1#1, %arg4 = %2) over (%arg5 = %5) : (tensor<4x4x4x1x4x4xf32>, tensor<4x4x4xf32>, tensor<2x4x4x4x1x4x4xf32>) -> (tensor<4x4x4x1x4x4xf32>, tensor<4x4x4xf32>, tensor<2x4x4x4x1x4x4xbf16>, tensor<2x8x17xf32>) {
      %17 = reprise.constant dense<1.000000e+00> : tensor<8x17xf32>
      %18 = reprise.cast %arg5 : tensor<4x4x4x1x4x4xf32> to tensor<4x4x4x1x4x4xbf16>
      %19 = reprise.constant dense<1.000000e+00> : tensor<4x4x4xf32>
      reprise.yield %arg3, %19, %18, %17 : tensor<4x4x4x1x4x4xf32>, tensor<4x4x4xf32>, tensor<4x4x4x1x4x4xbf16>, tensor<8x17xf32>
    }
    %7 = reprise.cast %6#2 : tensor<2x4x4x4x1x4x4xbf16> to tensor<2x4x4x4x1x4x4xf32>
    %8 = reprise.constant dense<1.000000e+00> : tensor<f32>
    %9 = reprise.sum %7 dims [0, 1, 2, 3, 4, 5, 6] : (tensor<2x4x4x4x1x4x4xf32>) -> tensor<f32>
    %10 = reprise.add %8, %9 : tensor<f32>
    %11 = reprise.constant dense<1.000000e+00> : tensor<6xf32>
    %12 = reprise.constant dense<1.000000e+00> : tensor<4x4x4xbf16>
    %13 = reprise.constant dense<1.000000e+00> : tensor<6xf32>
    %14 = reprise.broadcast %10 dims [] : (tensor<f32>) -> tensor<6xf32>
    %15 = reprise.mul %13, %14 : tensor<6xf32>
    %16 = reprise.sum %15 dims [0] : (tensor<6xf32>) -> tensor<f32>
    return %16, %12, %11 : tensor<f32>, tensor<4x4x4xbf16>, tensor<6xf32>
  }
}
