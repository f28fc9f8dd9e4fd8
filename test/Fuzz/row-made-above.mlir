// A row that is made above its loop must be recomputed; the loop's stack of it is another value, and kept.
// RUN: reprise-fuzz check %s
module {
  func.func @train(%arg0: tensor<1x3xbf16> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}) -> (tensor<bf16>, tensor<1x3xbf16>) {
    %0:4 = reprise.value_and_grad @f0(%arg0) wrt [0] : (tensor<1x3xbf16>) -> (tensor<bf16>, tensor<2x2x3x6x1x3x2x1x2x6x2xbf16>, tensor<1x2x3x2x6x3x2x1xbf16>, tensor<1x3xbf16>)
    return %0#0, %0#3 : tensor<bf16>, tensor<1x3xbf16>
  }
  func.func private @f0(%arg0: tensor<1x3xbf16>) -> (tensor<bf16>, tensor<2x2x3x6x1x3x2x1x2x6x2xbf16>, tensor<1x2x3x2x6x3x2x1xbf16>) {
    %0 = reprise.constant dense<1.000000e+00> : tensor<1x3xbf16>
    %1 = reprise.mul %0, %arg0 : tensor<1x3xbf16>
    %2 = reprise.constant dense<1.000000e+00> : tensor<bf16>
    %3 = reprise.sum %1 dims [0, 1] : (tensor<1x3xbf16>) -> tensor<bf16>
    %4 = reprise.add %2, %3 {reprise.label = #reprise.label<must_recompute>} : tensor<bf16>
    %5 = reprise.constant dense<1.000000e+00> : tensor<1x3xbf16>
    %6 = reprise.constant dense<1.000000e+00> : tensor<33x33x1xf64>
    %7 = reprise.constant dense<7.500000e-01> : tensor<33x33x1xf64>
    %8 = reprise.constant dense<true> : tensor<4x33x33x1xi1>
    %9 = reprise.constant dense<1.000000e+00> : tensor<4x1x3xbf16>
    %10:4 = reprise.loop 4 (%arg1 = %5, %arg2 = %6) over (%arg3 = %8, %arg4 = %9) reverse : (tensor<1x3xbf16>, tensor<33x33x1xf64>, tensor<4x33x33x1xi1>, tensor<4x1x3xbf16>) -> (tensor<1x3xbf16>, tensor<33x33x1xf64>, tensor<4xbf16>, tensor<4x1x3xbf16>) {
      reprise.yield %arg1, %7, %4, %arg4 : tensor<1x3xbf16>, tensor<33x33x1xf64>, tensor<bf16>, tensor<1x3xbf16>
    }
    %11 = reprise.broadcast %4 dims [] {reprise.label = #reprise.label<prefer_recompute>} : (tensor<bf16>) -> tensor<4xbf16>
    %12 = reprise.mul %10#2, %11 : tensor<4xbf16>
    %13 = reprise.slice %12 from [1] to [4] by [1] : (tensor<4xbf16>) -> tensor<3xbf16>
    %14 = reprise.reshape %13 : (tensor<3xbf16>) -> tensor<1x3xbf16>
    %15 = reprise.broadcast %14 dims [0, 2] : (tensor<1x3xbf16>) -> tensor<1x2x3x2x6x3x2x1xbf16>
    %16 = reprise.constant dense<1.000000e+00> : tensor<1x2x3x2x6x3x2x1xbf16>
    %17 = reprise.constant dense<1.000000e+00> : tensor<2x2x3x6x1x3x2x1x2x6x2xbf16>
    %18 = reprise.constant dense<1.000000e+00> : tensor<1x2x3x2x6x3x2x1xbf16>
    %19 = reprise.mul %18, %15 : tensor<1x2x3x2x6x3x2x1xbf16>
    %20 = reprise.constant dense<1.000000e+00> : tensor<bf16>
    %21 = reprise.mean %19 dims [0, 1, 2, 3, 4, 5, 6, 7] : (tensor<1x2x3x2x6x3x2x1xbf16>) -> tensor<bf16>
    %22 = reprise.add %20, %21 : tensor<bf16>
    return %22, %17, %16 : tensor<bf16>, tensor<2x2x3x6x1x3x2x1x2x6x2xbf16>, tensor<1x2x3x2x6x3x2x1xbf16>
  }
}
