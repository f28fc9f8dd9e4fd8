// Rows join the bodies of nested gradients to one scope; the plan leaves some unread, so that the bodies part.
// REQUIRES: slow
// RUN: reprise-fuzz check %s
module {
  func.func @train(%arg0: tensor<1x6xf32> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>, reprise.name = "a1", reprise.role = "input"}, %arg1: tensor<6xf16> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}, %arg2: tensor<f16> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}, %arg3: tensor<f16> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}, %arg4: tensor<6x2xf16> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}, %arg5: tensor<16xi64> {reprise.init = #reprise.uniform_int<0, 4>}) -> tensor<1x6xf32> {
    %0:6 = reprise.value_and_grad (%arg6 = %arg1, %arg7 = %arg0, %arg8 = %arg5) wrt [0, 1] of [0, 1] : (tensor<6xf16>, tensor<1x6xf32>, tensor<16xi64>) -> (tensor<f16>, tensor<f16>, tensor<6xf16>, tensor<1x6xf32>, tensor<6xf16>, tensor<1x6xf32>) {
      %1 = reprise.cast %arg7 : tensor<1x6xf32> to tensor<1x6xf16>
      %2 = reprise.broadcast %1 dims [1, 5] : (tensor<1x6xf16>) -> tensor<6x1x7x1x1x6xf16>
      %3 = reprise.reshape %2 : (tensor<6x1x7x1x1x6xf16>) -> tensor<252xf16>
      %4 = reprise.slice %3 from [164] to [165] by [1] : (tensor<252xf16>) -> tensor<1xf16>
      %5 = reprise.reshape %4 : (tensor<1xf16>) -> tensor<f16>
      %6 = reprise.cast %5 : tensor<f16> to tensor<f64>
      %7 = reprise.cast %6 : tensor<f64> to tensor<f16>
      %8:3 = reprise.value_and_grad @f0(%arg4, %7) wrt [0, 1] : (tensor<6x2xf16>, tensor<f16>) -> (tensor<f64>, tensor<6x2xf16>, tensor<f16>)
      %9 = reprise.add %arg3, %8#2 : tensor<f16>
      reprise.yield %9, %arg2 : tensor<f16>, tensor<f16>
    }
    return %0#3 : tensor<1x6xf32>
  }
  func.func private @f0(%arg0: tensor<6x2xf16>, %arg1: tensor<f16>) -> tensor<f64> {
    %0 = call @f1(%arg1) : (tensor<f16>) -> tensor<f32>
    %1 = reprise.sum %arg0 dims [0, 1] : (tensor<6x2xf16>) -> tensor<f16>
    %2 = reprise.broadcast %1 dims [] : (tensor<f16>) -> tensor<2x1x4x2xf16>
    %3 = reprise.cast %2 : tensor<2x1x4x2xf16> to tensor<2x1x4x2xf64>
    %4 = reprise.cast %0 : tensor<f32> to tensor<f64>
    %5 = reprise.sum %3 dims [0, 1, 2, 3] : (tensor<2x1x4x2xf64>) -> tensor<f64>
    %6 = reprise.broadcast %5 dims [] : (tensor<f64>) -> tensor<6x4xf64>
    %7 = reprise.cast %6 : tensor<6x4xf64> to tensor<6x4xbf16>
    %8 = reprise.constant dense<1.000000e+00> : tensor<1xbf16>
    %9 = reprise.reshape %7 : (tensor<6x4xbf16>) -> tensor<24xbf16>
    %10 = reprise.slice %9 from [14] to [15] by [1] : (tensor<24xbf16>) -> tensor<1xbf16>
    %11 = reprise.mul %8, %10 : tensor<1xbf16>
    %12:4 = reprise.loop 1 (%arg2 = %11, %arg3 = %arg1) : (tensor<1xbf16>, tensor<f16>) -> (tensor<1xbf16>, tensor<f16>, tensor<1x2x1x4x2xf64>, tensor<1x1xbf16>) {
      %23 = reprise.constant dense<1.000000e+00> : tensor<2x1x4x2xf64>
      %24 = reprise.constant dense<1.000000e+00> : tensor<1xbf16>
      %25 = reprise.broadcast %arg3 dims [] : (tensor<f16>) -> tensor<2x2x1x4x2xf16>
      %26 = reprise.cast %25 : tensor<2x2x1x4x2xf16> to tensor<2x2x1x4x2xf64>
      %27:3 = reprise.loop 2 (%arg4 = %4, %arg5 = %24) over (%arg6 = %26) : (tensor<f64>, tensor<1xbf16>, tensor<2x2x1x4x2xf64>) -> (tensor<f64>, tensor<1xbf16>, tensor<2x127x6xbf16>) {
        %33 = reprise.cast %26 : tensor<2x2x1x4x2xf64> to tensor<2x2x1x4x2xf16>
        %34 = reprise.sum %33 dims [0, 1, 2, 3, 4] : (tensor<2x2x1x4x2xf16>) -> tensor<f16>
        %35 = reprise.broadcast %34 dims [] : (tensor<f16>) -> tensor<127x6xf16>
        %36 = reprise.cast %35 : tensor<127x6xf16> to tensor<127x6xbf16>
        %37 = reprise.sum %arg2 dims [0] : (tensor<1xbf16>) -> tensor<bf16>
        %38 = reprise.broadcast %37 dims [] : (tensor<bf16>) -> tensor<127x6xbf16>
        %39 = reprise.mul %36, %38 : tensor<127x6xbf16>
        reprise.yield %4, %arg2, %39 : tensor<f64>, tensor<1xbf16>, tensor<127x6xbf16>
      }
      %28 = reprise.reshape %27#2 : (tensor<2x127x6xbf16>) -> tensor<1524xbf16>
      %29 = reprise.slice %28 from [842] to [843] by [1] : (tensor<1524xbf16>) -> tensor<1xbf16>
      %30 = reprise.mul %24, %29 : tensor<1xbf16>
      %31 = reprise.broadcast %27#0 dims [] : (tensor<f64>) -> tensor<2x1x4x2xf64>
      %32 = reprise.mul %23, %31 : tensor<2x1x4x2xf64>
      reprise.yield %27#1, %arg3, %32, %30 : tensor<1xbf16>, tensor<f16>, tensor<2x1x4x2xf64>, tensor<1xbf16>
    }
    %13 = reprise.cast %12#1 : tensor<f16> to tensor<f64>
    %14 = reprise.reshape %12#2 : (tensor<1x2x1x4x2xf64>) -> tensor<16xf64>
    %15 = reprise.slice %14 from [15] to [16] by [16] : (tensor<16xf64>) -> tensor<1xf64>
    %16 = reprise.reshape %15 : (tensor<1xf64>) -> tensor<f64>
    %17 = reprise.mul %13, %16 : tensor<f64>
    %18 = reprise.constant dense<1.000000e+00> : tensor<f64>
    %19 = reprise.add %18, %17 : tensor<f64>
    %20 = reprise.mean %12#3 dims [0, 1] : (tensor<1x1xbf16>) -> tensor<bf16>
    %21 = reprise.cast %20 : tensor<bf16> to tensor<f64>
    %22 = reprise.add %19, %21 : tensor<f64>
    return %22 : tensor<f64>
  }
  func.func private @f1(%arg0: tensor<f16>) -> tensor<f32> {
    %0 = reprise.constant dense<1.000000e+00> : tensor<4x4x2x4xf16>
    %1 = reprise.broadcast %arg0 dims [] : (tensor<f16>) -> tensor<4x4x2x4xf16>
    %2 = reprise.mul %0, %1 : tensor<4x4x2x4xf16>
    %3 = reprise.reshape %2 : (tensor<4x4x2x4xf16>) -> tensor<128xf16>
    %4 = reprise.slice %3 from [19] to [125] by [3] : (tensor<128xf16>) -> tensor<36xf16>
    %5 = reprise.reshape %4 : (tensor<36xf16>) -> tensor<6x6xf16>
    %6 = reprise.cast %5 : tensor<6x6xf16> to tensor<6x6xf32>
    %7 = reprise.constant dense<1.000000e+00> : tensor<f32>
    %8 = reprise.reshape %6 : (tensor<6x6xf32>) -> tensor<36xf32>
    %9 = reprise.slice %8 from [16] to [17] by [1] : (tensor<36xf32>) -> tensor<1xf32>
    %10 = reprise.reshape %9 : (tensor<1xf32>) -> tensor<f32>
    %11 = reprise.mul %7, %10 : tensor<f32>
    %12 = reprise.constant dense<1.000000e+00> : tensor<f32>
    %13 = reprise.add %12, %11 : tensor<f32>
    return %13 : tensor<f32>
  }
}
