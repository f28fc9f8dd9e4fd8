// An update moves behind an op that would go along with its only reader.
// REQUIRES: slow
// RUN: reprise-fuzz check %s
module {
  func.func @train(%arg0: tensor<4097xbf16> {reprise.init = #reprise.uniform<5.000000e-01, 2.000000e+00>, reprise.name = "a1", reprise.role = "state"}, %arg1: tensor<6xf16> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>, reprise.name = "a2", reprise.role = "parameter"}, %arg2: tensor<127x6xf16> {reprise.init = #reprise.uniform<-1.000000e+00, 2.000000e+00>, reprise.name = "a3", reprise.role = "parameter"}, %arg3: tensor<3x6x6x1x2xf16> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}, %arg4: tensor<6x6x6xf32> {reprise.init = #reprise.normal<0.000000e+00, 1.000000e+00>}) -> (tensor<4097xbf16> {reprise.name = "r0"}, tensor<6x6x6x6xbf16> {reprise.name = "r4"}, tensor<6x6x6x6xbf16> {reprise.name = "r5"}, tensor<6xf16> {reprise.name = "a2"}) {
    %result, %mean, %variance = reprise.batch_norm %arg3, %arg1, %arg1 {epsilon = 5.000000e-01 : f64} : (tensor<3x6x6x1x2xf16>, tensor<6xf16>, tensor<6xf16>) -> (tensor<3x6x6x1x2xf16>, tensor<6xf32>, tensor<6xf32>)
    %0 = reprise.min %arg2 dims [0] : (tensor<127x6xf16>) -> tensor<6xf16>
    %1 = reprise.cast %0 : tensor<6xf16> to tensor<6xbf16>
    %2 = reprise.broadcast %1 dims [0] : (tensor<6xbf16>) -> tensor<6x6x6x6xbf16>
    %3 = reprise.cast %variance : tensor<6xf32> to tensor<6xbf16>
    %4 = reprise.broadcast %3 dims [0] : (tensor<6xbf16>) -> tensor<6x6x6x6xbf16>
    %dquery, %dkey, %dvalue = reprise.attention_backward %2, %2, %4, %4, %arg4, %2 {causal, scale = 1.000000e-01 : f64, stream = 6 : i64} : (tensor<6x6x6x6xbf16>, tensor<6x6x6x6xbf16>, tensor<6x6x6x6xbf16>, tensor<6x6x6x6xbf16>, tensor<6x6x6xf32>, tensor<6x6x6x6xbf16>) -> (tensor<6x6x6x6xbf16>, tensor<6x6x6x6xbf16>, tensor<6x6x6x6xbf16>)
    %5:5 = reprise.value_and_grad @f0(%dvalue, %arg0) wrt [0, 1] : (tensor<6x6x6x6xbf16>, tensor<4097xbf16>) -> (tensor<f16>, tensor<f16>, tensor<f16>, tensor<6x6x6x6xbf16>, tensor<4097xbf16>)
    return %5#4, %dkey, %dquery, %0 : tensor<4097xbf16>, tensor<6x6x6x6xbf16>, tensor<6x6x6x6xbf16>, tensor<6xf16>
  }
  func.func private @f0(%arg0: tensor<6x6x6x6xbf16>, %arg1: tensor<4097xbf16>) -> (tensor<f16>, tensor<f16>, tensor<f16>) {
    %0 = reprise.constant dense<1.000000e+00> : tensor<f16>
    %1 = reprise.constant dense<1.000000e+00> : tensor<f16>
    %2 = reprise.constant dense<1.000000e+00> : tensor<f16>
    return %2, %1, %0 : tensor<f16>, tensor<f16>, tensor<f16>
  }
}
