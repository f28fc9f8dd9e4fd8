// A step with dropout, a matrix product and a reduction over all elements in a block that is computed again, and with
// state that the block reads.
func.func private @loss(%x: tensor<24x40xf32>, %w: tensor<40x40xf32>, %scale: tensor<40xf32>) -> tensor<f32> {
  %y = reprise.checkpoint {
    %h = reprise.dropout %x {rate = 0.25 : f64} : tensor<24x40xf32>
    %s = reprise.mul %h, %scale : (tensor<24x40xf32>, tensor<40xf32>) -> tensor<24x40xf32>
    %p = reprise.dot_general %s, %w contracting [1] x [0] : (tensor<24x40xf32>, tensor<40x40xf32>) -> tensor<24x40xf32>
    %t = reprise.tanh %p : tensor<24x40xf32>
    reprise.yield %t : tensor<24x40xf32>
  } : tensor<24x40xf32>
  %e = reprise.exp %y : tensor<24x40xf32>
  %sum = reprise.sum %e dims [0, 1] : (tensor<24x40xf32>) -> tensor<f32>
  return %sum : tensor<f32>
}

func.func @train(%x: tensor<24x40xf32> {reprise.role = "input", reprise.name = "x", reprise.init = #reprise.normal<0.0, 1.0>},
                 %w: tensor<40x40xf32> {reprise.role = "parameter", reprise.name = "w", reprise.init = #reprise.normal<0.0, 0.2>},
                 %scale: tensor<40xf32> {reprise.role = "state", reprise.name = "scale", reprise.init = #reprise.uniform<0.5, 1.5>})
    -> (tensor<f32> {reprise.name = "loss"}, tensor<40x40xf32> {reprise.name = "w"}, tensor<40xf32> {reprise.name = "scale"}) {
  %loss, %dw = reprise.value_and_grad @loss(%x, %w, %scale) wrt [1]
      : (tensor<24x40xf32>, tensor<40x40xf32>, tensor<40xf32>) -> (tensor<f32>, tensor<40x40xf32>)
  %rate = reprise.constant dense<0.001> : tensor<40x40xf32>
  %step = reprise.mul %dw, %rate : tensor<40x40xf32>
  %next = reprise.sub %w, %step : tensor<40x40xf32>
  %decay = reprise.constant dense<0.99> : tensor<40xf32>
  %decayed = reprise.mul %scale, %decay : tensor<40xf32>
  return %loss, %next, %decayed : tensor<f32>, tensor<40x40xf32>, tensor<40xf32>
}
