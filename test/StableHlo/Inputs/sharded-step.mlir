  func.func @train(%w1: tensor<6x8xf32> {reprise.name = "w1", reprise.role = "parameter", reprise.init = #reprise.normal<0.0, 0.5>},
                   %w2: tensor<8x6xf32> {reprise.name = "w2", reprise.role = "parameter", reprise.init = #reprise.normal<0.0, 0.5>},
                   %x: tensor<4x6xf32> {reprise.name = "x", reprise.role = "input", reprise.init = #reprise.normal<0.0, 1.0>},
                   %b: tensor<6xf32> {reprise.name = "b", reprise.role = "parameter", reprise.init = #reprise.fill<0.1>},
                   %s: tensor<f32> {reprise.name = "s", reprise.role = "state", reprise.init = #reprise.fill<0.5>})
      -> (tensor<f32> {reprise.name = "loss"}, tensor<6x8xf32> {reprise.name = "w1"}, tensor<8x6xf32> {reprise.name = "w2"}) {
    %loss, %g1, %g2 = reprise.value_and_grad @model(%w1, %w2, %x, %b, %s) wrt [0, 1] : (tensor<6x8xf32>, tensor<8x6xf32>, tensor<4x6xf32>, tensor<6xf32>, tensor<f32>) -> (tensor<f32>, tensor<6x8xf32>, tensor<8x6xf32>)
    %n1 = reprise.sub %w1, %g1 : tensor<6x8xf32>
    %n2 = reprise.sub %w2, %g2 : tensor<8x6xf32>
    return %loss, %n1, %n2 : tensor<f32>, tensor<6x8xf32>, tensor<8x6xf32>
  }
