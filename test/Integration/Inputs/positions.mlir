// Positions that are a part of an argument, and positions that are computed: token t asks for row t, for row t - 3, and
// for class t - 3.
func.func private @loss(%tokens: tensor<3x8xi64>, %table: tensor<11x7xf32>) -> tensor<f32> {
  %window = reprise.slice %tokens from [0, 1] to [3, 8] by [1, 1] : (tensor<3x8xi64>) -> tensor<3x7xi64>
  %rows = reprise.gather %table[%window] : (tensor<11x7xf32>, tensor<3x7xi64>) -> tensor<3x7x7xf32>
  %narrow = reprise.cast %window : tensor<3x7xi64> to tensor<3x7xi32>
  %three = reprise.constant dense<3> : tensor<3x7xi32>
  %less = reprise.sub %narrow, %three : tensor<3x7xi32>
  %more = reprise.gather %table[%less] : (tensor<11x7xf32>, tensor<3x7xi32>) -> tensor<3x7x7xf32>
  %logits = reprise.mul %rows, %more : tensor<3x7x7xf32>
  %minus = reprise.constant dense<-3> : tensor<3x7xi32>
  %labels = reprise.add %narrow, %minus : tensor<3x7xi32>
  %each = reprise.cross_entropy %logits, %labels : (tensor<3x7x7xf32>, tensor<3x7xi32>) -> tensor<3x7xf32>
  %mean = reprise.mean %each dims [0, 1] : (tensor<3x7xf32>) -> tensor<f32>
  return %mean : tensor<f32>
}

func.func @train(%tokens: tensor<3x8xi64> {reprise.role = "input", reprise.name = "tokens", reprise.init = #reprise.uniform_int<3, 10>},
                 %table: tensor<11x7xf32> {reprise.role = "parameter", reprise.name = "table", reprise.init = #reprise.normal<0.0, 1.0>})
    -> (tensor<f32> {reprise.name = "loss"}, tensor<11x7xf32> {reprise.name = "table"}) {
  %loss, %d = reprise.value_and_grad @loss(%tokens, %table) wrt [1]
      : (tensor<3x8xi64>, tensor<11x7xf32>) -> (tensor<f32>, tensor<11x7xf32>)
  %next = reprise.sub %table, %d : tensor<11x7xf32>
  return %loss, %next : tensor<f32>, tensor<11x7xf32>
}
