// Each kind of kernel that a GPU has, in f32, f64 and bf16.
!t = tensor<40x9000xf32>
!d = tensor<7x130xf64>
!b = tensor<96x64xbf16>
!f = tensor<16x20xf32>
!image = tensor<1x1x96x64xbf16>
!window = tensor<1x1x3x3xbf16>
!half = tensor<1x1x48x32xbf16>

func.func @train(
    %x: !t {reprise.role = "input", reprise.name = "x", reprise.init = #reprise.normal<0.0, 1.0>},
    %d: !d {reprise.role = "input", reprise.name = "d", reprise.init = #reprise.normal<0.0, 1.0>},
    %b: !b {reprise.role = "input", reprise.name = "b", reprise.init = #reprise.uniform<0.5, 2.0>},
    %f: !f {reprise.role = "input", reprise.name = "f", reprise.init = #reprise.normal<0.0, 9.0>},
    %rows: tensor<5xi32> {reprise.role = "input", reprise.name = "rows", reprise.init = #reprise.uniform_int<0, 40>})
    -> (!t {reprise.name = "softmax"}, tensor<9000xf32> {reprise.name = "sums"}, tensor<f32> {reprise.name = "mean"},
        !d {reprise.name = "logs"}, tensor<130xf64> {reprise.name = "column max"}, !b {reprise.name = "gelu"},
        !b {reprise.name = "dropped"}, tensor<64x96xbf16> {reprise.name = "turned"}, tensor<5x9000xf32> {reprise.name = "gathered"},
        tensor<40xi32> {reprise.name = "argmax"}, !d {reprise.name = "roots"}, !t {reprise.name = "noise"},
        tensor<80x9000xf32> {reprise.name = "both"}, !f {reprise.name = "angles"}, tensor<40x40xf32> {reprise.name = "products"},
        !half {reprise.name = "convolved"}, !image {reprise.name = "image"}, !window {reprise.name = "filter"}) {
  %softmax = reprise.softmax %x : !t
  %sums = reprise.sum %x dims [0] : (!t) -> tensor<9000xf32>
  %mean = reprise.mean %x dims [0, 1] : (!t) -> tensor<f32>
  %logs = reprise.log_softmax %d : !d
  %most = reprise.max %d dims [0] : (!d) -> tensor<130xf64>
  %gelu = reprise.gelu %b {form = #reprise<gelu_form tanh>} : !b
  %dropped = reprise.dropout %gelu {rate = 0.1 : f64} : !b
  %turned = reprise.transpose %b [1, 0] : (!b) -> tensor<64x96xbf16>
  %exp = reprise.exp %turned : tensor<64x96xbf16>
  %gathered = reprise.gather %x[%rows] : (!t, tensor<5xi32>) -> tensor<5x9000xf32>
  %argmax = reprise.argmax %x dim 1 : (!t) -> tensor<40xi32>
  %root = reprise.rsqrt %d : !d
  %erf = reprise.erf %root : !d
  %noise = reprise.random_normal {std = 0.5 : f64} : !t
  %both = reprise.concatenate %x, %noise dim 0 : (!t, !t) -> tensor<80x9000xf32>
  %sin = reprise.sin %f : !f
  %cos = reprise.cos %f : !f
  %floor = reprise.floor %f : !f
  %power = reprise.pow %cos, %floor : !f
  %angles = reprise.add %sin, %power : !f
  %products = reprise.dot_general %x, %x contracting [1] x [1] : (!t, !t) -> tensor<40x40xf32>
  %i = reprise.reshape %b : (!b) -> !image
  %w = reprise.slice %i from [0, 0, 0, 0] to [1, 1, 3, 3] by [1, 1, 1, 1] : (!image) -> !window
  %convolved = reprise.convolution %i, %w strides [2, 2] low [1, 1] high [1, 1] dilation [1, 1] : (!image, !window) -> !half
  %image = reprise.convolution_transpose %convolved, %w strides [2, 2] low [1, 1] high [1, 1] dilation [1, 1]
      : (!half, !window) -> !image
  %filter = reprise.convolution_filter %i, %convolved strides [2, 2] low [1, 1] high [1, 1] dilation [1, 1]
      : (!image, !half) -> !window
  return %softmax, %sums, %mean, %logs, %most, %gelu, %dropped, %exp, %gathered, %argmax, %erf, %noise, %both, %angles,
        %products, %convolved, %image, %filter
      : !t, tensor<9000xf32>, tensor<f32>, !d, tensor<130xf64>, !b, !b, tensor<64x96xbf16>, tensor<5x9000xf32>,
        tensor<40xi32>, !d, !t, tensor<80x9000xf32>, !f, tensor<40x40xf32>, !half, !image, !window
}
