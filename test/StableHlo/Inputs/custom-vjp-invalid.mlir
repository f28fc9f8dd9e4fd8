func.func public @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.custom_call @reprise.name(%x) : (tensor<f32>) -> tensor<f32>
  %1 = stablehlo.custom_call @reprise.label(%x) {label = "keep"} : (tensor<f32>) -> tensor<f32>
  %2 = stablehlo.custom_call @reprise.custom_vjp(%x, %x) {called_computations = [@two]} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %3 = stablehlo.custom_call @reprise.custom_vjp(%x, %x) {called_computations = [@none]} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %4 = stablehlo.custom_call @reprise.custom_vjp(%x, %x) {called_computations = [@wide]} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %x : tensor<f32>
}
func.func private @two(%x: tensor<f32>, %d: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func private @wide(%d: tensor<f32>) -> tensor<4xf32> {
  %0 = stablehlo.broadcast_in_dim %d, dims = [] : (tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
