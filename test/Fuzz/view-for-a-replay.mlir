// What a replay in the reverse loop reads of a view comes from what the view is of: that is what the plan holds.
// RUN: reprise-fuzz check %s
func.func @train(%x: tensor<3x8xf32> {reprise.init = #reprise.normal<0.0, 1.0>},
                 %y: tensor<2x4xbf16> {reprise.init = #reprise.normal<0.0, 1.0>}) -> (tensor<bf16>, tensor<3x8xf32>) {
  %0:3 = reprise.value_and_grad (%a = %x, %b = %y) wrt [0, 1] : (tensor<3x8xf32>, tensor<2x4xbf16>) -> (tensor<bf16>, tensor<3x8xf32>, tensor<2x4xbf16>) {
    %1:2 = reprise.loop 2 (%c = %b) : (tensor<2x4xbf16>) -> (tensor<2x4xbf16>, tensor<2x2x4xbf16>) {
      %t = reprise.tanh %a : tensor<3x8xf32>
      %v = reprise.slice %t from [0, 1] to [2, 8] by [1, 2] : (tensor<3x8xf32>) -> tensor<2x4xf32>
      %w = reprise.cast %v {reprise.label = #reprise.label<prefer_recompute>} : tensor<2x4xf32> to tensor<2x4xbf16>
      %s = reprise.slice %t from [1, 0] to [3, 8] by [1, 2] {reprise.label = #reprise.label<must_save>} : (tensor<3x8xf32>) -> tensor<2x4xf32>
      %r = reprise.cast %s {reprise.label = #reprise.label<must_recompute>} : tensor<2x4xf32> to tensor<2x4xbf16>
      %m = reprise.mul %w, %c : tensor<2x4xbf16>
      %n = reprise.mul %r, %m : tensor<2x4xbf16>
      reprise.yield %m, %n : tensor<2x4xbf16>, tensor<2x4xbf16>
    }
    %l = reprise.sum %1#1 dims [0, 1, 2] : (tensor<2x2x4xbf16>) -> tensor<bf16>
    reprise.yield %l : tensor<bf16>
  }
  return %0#0, %0#1 : tensor<bf16>, tensor<3x8xf32>
}
