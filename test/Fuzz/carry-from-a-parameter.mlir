// A 16-bit parameter's cotangents are added in f32, also those that come out of a loop in the type of its carry. The
// loop is replaced while its gradient is taken, and the gradient's last cast takes place after that.
// RUN: reprise-fuzz check %s
func.func @train(%x: tensor<5xbf16> {reprise.init = #reprise.normal<0.0, 1.0>}) -> (tensor<f32>, tensor<5xbf16>) {
  %0:2 = reprise.value_and_grad (%a = %x) wrt [0] : (tensor<5xbf16>) -> (tensor<f32>, tensor<5xbf16>) {
    %1:2 = reprise.loop 3 (%c = %a) : (tensor<5xbf16>) -> (tensor<5xbf16>, tensor<3x5xbf16>) {
      %t = reprise.tanh %c : tensor<5xbf16>
      %m = reprise.mul %t, %a : tensor<5xbf16>
      reprise.yield %m, %a : tensor<5xbf16>, tensor<5xbf16>
    }
    %w = reprise.mul %1#0, %a : tensor<5xbf16>
    %f = reprise.cast %w : tensor<5xbf16> to tensor<5xf32>
    %g = reprise.cast %1#1 : tensor<3x5xbf16> to tensor<3x5xf32>
    %s = reprise.sum %f dims [0] : (tensor<5xf32>) -> tensor<f32>
    %r = reprise.sum %g dims [0, 1] : (tensor<3x5xf32>) -> tensor<f32>
    %l = reprise.add %s, %r : tensor<f32>
    reprise.yield %l : tensor<f32>
  }
  return %0#0, %0#1 : tensor<f32>, tensor<5xbf16>
}
