func.func @forward(%x: tensor<2x3xf32> {reprise.role = "input", reprise.name = "x"})
    -> (tensor<2x3xf32> {reprise.name = "y"}) {
  %y = reprise.tanh %x : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
