// The offsets of the draws are rows of rows, cut into segments by a view that the replay makes again.
// RUN: reprise-fuzz check %s
module {
  func.func @train(%arg0: tensor<6xf16> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>, reprise.name = "a0", reprise.role = "input"}, %arg1: tensor<4xf16> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}, %arg2: tensor<4xf16> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}, %arg3: tensor<f16> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}, %arg4: tensor<7xf16> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}, %arg5: tensor<f16> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}, %arg6: tensor<f16> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}) -> tensor<6xf16> {
    %0:6 = reprise.value_and_grad (%arg7 = %arg0) wrt [0] of [0, 1] : (tensor<6xf16>) -> (tensor<f16>, tensor<f16>, tensor<4x4xf16>, tensor<f16>, tensor<6xf16>, tensor<6xf16>) {
      %1 = reprise.slice %arg7 from [2] to [3] by [1] : (tensor<6xf16>) -> tensor<1xf16>
      %2 = reprise.reshape %1 : (tensor<1xf16>) -> tensor<f16>
      %3 = reprise.mul %arg5, %2 : tensor<f16>
      %4:4 = reprise.loop 4 (%arg8 = %3, %arg9 = %arg6) reverse : (tensor<f16>, tensor<f16>) -> (tensor<f16>, tensor<f16>, tensor<4x4xf16>, tensor<4x4xf16>) {
        %5 = reprise.broadcast %3 dims [] : (tensor<f16>) -> tensor<4xf16>
        %6:3 = reprise.loop 4 (%arg10 = %arg6) over (%arg11 = %5, %arg12 = %5) reverse : (tensor<f16>, tensor<4xf16>, tensor<4xf16>) -> (tensor<f16>, tensor<4xf16>, tensor<4x7xf16>) {
          %7 = reprise.random_uniform_int {high = 3 : i64, low = 1 : i64, stream = 2 : i64} : tensor<5x5x5xi64>
          %8 = reprise.cast %7 : tensor<5x5x5xi64> to tensor<5x5x5xf16>
          %9 = reprise.reshape %8 : (tensor<5x5x5xf16>) -> tensor<125xf16>
          %10 = reprise.slice %9 from [115] to [116] by [1] : (tensor<125xf16>) -> tensor<1xf16>
          %11 = reprise.reshape %10 : (tensor<1xf16>) -> tensor<f16>
          %12 = reprise.mul %arg11, %11 {reprise.label = #reprise.label<must_recompute>} : tensor<f16>
          reprise.yield %12, %12, %arg4 : tensor<f16>, tensor<f16>, tensor<7xf16>
        }
        reprise.yield %arg9, %6#0, %arg1, %arg2 : tensor<f16>, tensor<f16>, tensor<4xf16>, tensor<4xf16>
      }
      reprise.yield %4#1, %arg3, %4#2, %arg6 : tensor<f16>, tensor<f16>, tensor<4x4xf16>, tensor<f16>
    }
    return %0#4 : tensor<6xf16>
  }
}
