// Carries start in buffers that nobody else reads: neither another carry of the loop nor the body of an earlier one.
// RUN: reprise-fuzz check %s
func.func @train(%x: tensor<5xf32> {reprise.init = #reprise.normal<0.0, 1.0>}) -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) {
  %once = reprise.tanh %x : tensor<5xf32>
  %twice = reprise.exp %x : tensor<5xf32>
  %0:2 = reprise.loop 3 (%a = %x, %b = %x) : (tensor<5xf32>, tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
    reprise.yield %b, %once : tensor<5xf32>, tensor<5xf32>
  }
  %1 = reprise.loop 3 (%a = %once) : (tensor<5xf32>) -> tensor<5xf32> {
    reprise.yield %0#1 : tensor<5xf32>
  }
  %2:2 = reprise.loop 3 (%a = %twice, %b = %twice) : (tensor<5xf32>, tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
    %c = reprise.mul %a, %x : tensor<5xf32>
    reprise.yield %b, %c : tensor<5xf32>, tensor<5xf32>
  }
  return %0#0, %1, %2#0 : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
}
