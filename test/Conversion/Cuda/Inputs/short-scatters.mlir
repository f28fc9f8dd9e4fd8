// Tables that few updates go to, and tables where most updates meet others.
func.func @train(%x: tensor<4x150x77xf32> {reprise.init = #reprise.normal<0.0, 1.0>, reprise.name = "x"},
                 %y: tensor<512x1xf32> {reprise.init = #reprise.normal<0.0, 1.0>, reprise.name = "y"},
                 %z: tensor<600x45xf64> {reprise.init = #reprise.normal<0.0, 1.0>, reprise.name = "z"})
    -> (tensor<4x150x13xf32> {reprise.name = "few"}, tensor<512x100xf32> {reprise.name = "one"}, tensor<600x64xf64> {reprise.name = "wide"}) {
  %0 = reprise.random_uniform_int {low = 0, high = 13} : tensor<4x150x77xi32>
  %1 = reprise.scatter_add_along %x at %0 : (tensor<4x150x77xi32>, tensor<4x150x77xf32>) -> tensor<4x150x13xf32>
  %2 = reprise.random_uniform_int {low = 0, high = 100} : tensor<512x1xi32>
  %3 = reprise.scatter_add_along %y at %2 : (tensor<512x1xi32>, tensor<512x1xf32>) -> tensor<512x100xf32>
  %4 = reprise.random_uniform_int {low = 0, high = 64} : tensor<600x45xi64>
  %5 = reprise.scatter_add_along %z at %4 : (tensor<600x45xi64>, tensor<600x45xf64>) -> tensor<600x64xf64>
  return %1, %3, %5 : tensor<4x150x13xf32>, tensor<512x100xf32>, tensor<600x64xf64>
}
