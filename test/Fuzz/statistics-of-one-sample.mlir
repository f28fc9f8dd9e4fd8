// RUN: reprise-fuzz check --kind=batches %s
// Statistics of one sample have no variance: so many micro-batches are refused, as what couples samples is.
func.func @train(%x: tensor<11x4xf32> {reprise.batch_dim = 0 : i64, reprise.init = #reprise.normal<0.0, 1.0>, reprise.name = "x", reprise.role = "input"},
                 %w: tensor<4xf32> {reprise.init = #reprise.normal<0.0, 1.0>, reprise.name = "w", reprise.role = "parameter"})
    -> (tensor<11x4xf32> {reprise.name = "y"}, tensor<4xf32> {reprise.name = "mean"}) {
  %y, %mean, %variance = reprise.batch_norm %x, %w, %w {epsilon = 1.0e-05 : f64} : (tensor<11x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<11x4xf32>, tensor<4xf32>, tensor<4xf32>)
  %whole, %unbiased = reprise.batch_statistics %mean, %variance count 11 : tensor<4xf32>
  return %y, %whole : tensor<11x4xf32>, tensor<4xf32>
}
