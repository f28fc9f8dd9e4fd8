// An inner loop that reads values from above alone has no operand, yet is no constant.
// RUN: reprise-fuzz check %s
module {
  func.func @train(%arg0: tensor<1x1xf32> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}, %arg1: tensor<1x1xf32> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}) -> tensor<1x1xf32> {
    %0:5 = reprise.value_and_grad @f0(%arg1, %arg0, %arg1) wrt [0, 1] : (tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>) -> (tensor<f64>, tensor<2x3x6x1x3x2x6xf32>, tensor<1x1x1x1x1x1xf64>, tensor<1x1xf32>, tensor<1x1xf32>)
    return %0#4 : tensor<1x1xf32>
  }
  func.func private @f0(%arg0: tensor<1x1xf32>, %arg1: tensor<1x1xf32>, %arg2: tensor<1x1xf32>) -> (tensor<f64>, tensor<2x3x6x1x3x2x6xf32>, tensor<1x1x1x1x1x1xf64>) {
    %0 = reprise.constant dense<1.000000e+00> : tensor<2x4x2x2xf32>
    %1 = reprise.cast %arg1 : tensor<1x1xf32> to tensor<1x1xf64>
    %2 = reprise.mean %1 dims [0, 1] : (tensor<1x1xf64>) -> tensor<f64>
    %3 = reprise.broadcast %2 dims [] : (tensor<f64>) -> tensor<2x3x6x1x3x2x6xf64>
    %4 = reprise.constant dense<1.000000e+00> : tensor<1x2x3x6x1x3x2x6xf64>
    %5 = reprise.constant dense<1.000000e+00> : tensor<1x1x2x3x6x1x3x2x6xf64>
    %6:4 = reprise.loop 1 (%arg3 = %0, %arg4 = %3) over (%arg5 = %4, %arg6 = %5) : (tensor<2x4x2x2xf32>, tensor<2x3x6x1x3x2x6xf64>, tensor<1x2x3x6x1x3x2x6xf64>, tensor<1x1x2x3x6x1x3x2x6xf64>) -> (tensor<2x4x2x2xf32>, tensor<2x3x6x1x3x2x6xf64>, tensor<1x2x3x129xf64>, tensor<1x1x1x1x1x1xf64>) {
      %12:3 = reprise.loop 2 (%arg7 = %5) : (tensor<1x1x2x3x6x1x3x2x6xf64>) -> (tensor<1x1x2x3x6x1x3x2x6xf64>, tensor<2xf64>, tensor<2x3x129xf64>) {
        %15 = reprise.cast %3 : tensor<2x3x6x1x3x2x6xf64> to tensor<2x3x6x1x3x2x6xf32>
        %16 = reprise.reshape %15 : (tensor<2x3x6x1x3x2x6xf32>) -> tensor<1296xf32>
        %17 = reprise.slice %16 from [753] to [880] by [1] : (tensor<1296xf32>) -> tensor<127xf32>
        %18 = reprise.reshape %17 : (tensor<127xf32>) -> tensor<1x127xf32>
        %19 = reprise.pad %18 with 1.000000e-01 : f32 low [1, 1] high [1, 1] interior [3, 0] : (tensor<1x127xf32>) -> tensor<3x129xf32>
        %20 = reprise.cast %19 : tensor<3x129xf32> to tensor<3x129xf64>
        %21 = reprise.reshape %arg6 : (tensor<1x2x3x6x1x3x2x6xf64>) -> tensor<1296xf64>
        %22 = reprise.slice %21 from [63] to [1222] by [3] : (tensor<1296xf64>) -> tensor<387xf64>
        %23 = reprise.reshape %22 : (tensor<387xf64>) -> tensor<3x129xf64>
        %24 = reprise.mul %20, %23 : tensor<3x129xf64>
        %25 = reprise.constant dense<1.000000e+00> : tensor<f64>
        reprise.yield %5, %25, %24 : tensor<1x1x2x3x6x1x3x2x6xf64>, tensor<f64>, tensor<3x129xf64>
      }
      %13 = reprise.constant dense<1.000000e+00> : tensor<1x1x1x1x1xf64>
      %14 = reprise.mul %12#2, %12#2 : tensor<2x3x129xf64>
      reprise.yield %arg3, %arg5, %14, %13 : tensor<2x4x2x2xf32>, tensor<2x3x6x1x3x2x6xf64>, tensor<2x3x129xf64>, tensor<1x1x1x1x1xf64>
    }
    %7 = reprise.constant dense<1.000000e+00> : tensor<1x1x1x1x1x1xf64>
    %8 = reprise.constant dense<1.000000e+00> : tensor<2x3x6x1x3x2x6xf32>
    %9 = reprise.constant dense<1.000000e+00> : tensor<f64>
    %10 = reprise.mean %6#2 dims [0, 1, 2, 3] : (tensor<1x2x3x129xf64>) -> tensor<f64>
    %11 = reprise.add %9, %10 : tensor<f64>
    return %11, %8, %7 : tensor<f64>, tensor<2x3x6x1x3x2x6xf32>, tensor<1x1x1x1x1x1xf64>
  }
}
