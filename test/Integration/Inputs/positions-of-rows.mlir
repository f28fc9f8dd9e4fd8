// Positions within rows, and of rows that are replaced: both are arguments.
func.func private @loss(%x: tensor<3x8xf32>, %along: tensor<3x2xi32>, %rows: tensor<2xi64>) -> tensor<f32> {
  %taken = reprise.take_along %x[%along] : (tensor<3x8xf32>, tensor<3x2xi32>) -> tensor<3x2xf32>
  %new = reprise.constant dense<1.0> : tensor<2x2xf32>
  %replaced = reprise.scatter %new into %taken at %rows : (tensor<3x2xf32>, tensor<2xi64>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %square = reprise.mul %replaced, %replaced : tensor<3x2xf32>
  %sum = reprise.sum %square dims [0, 1] : (tensor<3x2xf32>) -> tensor<f32>
  return %sum : tensor<f32>
}

func.func @train(%along: tensor<3x2xi32> {reprise.role = "input", reprise.name = "along", reprise.init = #reprise.uniform_int<0, 8>},
                 %rows: tensor<2xi64> {reprise.role = "input", reprise.name = "rows", reprise.init = #reprise.uniform_int<0, 3>},
                 %x: tensor<3x8xf32> {reprise.role = "parameter", reprise.name = "x", reprise.init = #reprise.normal<0.0, 1.0>})
    -> (tensor<f32> {reprise.name = "loss"}, tensor<3x8xf32> {reprise.name = "x"}) {
  %loss, %d = reprise.value_and_grad @loss(%x, %along, %rows) wrt [0]
      : (tensor<3x8xf32>, tensor<3x2xi32>, tensor<2xi64>) -> (tensor<f32>, tensor<3x8xf32>)
  %next = reprise.sub %x, %d : tensor<3x8xf32>
  return %loss, %next : tensor<f32>, tensor<3x8xf32>
}
