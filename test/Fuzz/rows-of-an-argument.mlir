// RUN: reprise-fuzz check --kind=batches %s
// An argument whose elements stages read one by one, and which is a result, too: programs of stages return its rows.
func.func @train(%x: tensor<4x8xf64> {reprise.batch_dim = 0 : i64, reprise.init = #reprise.normal<0.0, 1.0>, reprise.name = "x", reprise.role = "input"},
                 %w: tensor<5xf64> {reprise.init = #reprise.normal<0.0, 1.0>, reprise.name = "w", reprise.role = "parameter"})
    -> (tensor<4x8xf64> {reprise.name = "a"}, tensor<4x8xf64> {reprise.name = "b"}, tensor<5xf64> {reprise.name = "c"}) {
  %first = reprise.slice %w from [0] to [1] by [1] : (tensor<5xf64>) -> tensor<1xf64>
  %a = reprise.mul %x, %first : (tensor<4x8xf64>, tensor<1xf64>) -> tensor<4x8xf64>
  %s = reprise.sin %a : tensor<4x8xf64>
  %second = reprise.slice %w from [3] to [4] by [1] : (tensor<5xf64>) -> tensor<1xf64>
  %b = reprise.mul %s, %second : (tensor<4x8xf64>, tensor<1xf64>) -> tensor<4x8xf64>
  %t = reprise.tanh %b : tensor<4x8xf64>
  %c = reprise.neg %w : tensor<5xf64>
  return %a, %t, %c : tensor<4x8xf64>, tensor<4x8xf64>, tensor<5xf64>
}
