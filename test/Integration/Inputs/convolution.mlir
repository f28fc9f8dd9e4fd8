// Convolutions, their gradients and poolings in bf16. The test of golden hashes reads it in f16, f32 and f64 as well: it
// replaces the one word.
!image = tensor<3x8x19x18xbf16>
!output = tensor<3x12x10x9xbf16>

func.func @convolutions(
    %x: !image {reprise.role = "input", reprise.name = "x", reprise.init = #reprise.normal<0.0, 1.0>},
    %y: !output {reprise.role = "input", reprise.name = "y", reprise.init = #reprise.normal<0.0, 1.0>},
    %w: tensor<12x8x3x3xbf16> {reprise.role = "parameter", reprise.name = "w", reprise.init = #reprise.normal<0.0, 0.1>},
    %v: tensor<12x4x3x3xbf16> {reprise.role = "parameter", reprise.name = "v", reprise.init = #reprise.normal<0.0, 0.1>},
    %d: tensor<8x1x5x5xbf16> {reprise.role = "parameter", reprise.name = "d", reprise.init = #reprise.normal<0.0, 0.1>},
    %p: tensor<16x8x1x1xbf16> {reprise.role = "parameter", reprise.name = "p", reprise.init = #reprise.normal<0.0, 0.1>},
    %bias: tensor<12xbf16> {reprise.role = "parameter", reprise.name = "bias", reprise.init = #reprise.normal<0.0, 0.1>})
    -> (tensor<3x12x19x18xbf16> {reprise.name = "activated"}, !output {reprise.name = "strided"}, !image {reprise.name = "depthwise"},
        tensor<3x16x19x18xbf16> {reprise.name = "pointwise"}, !image {reprise.name = "image gradient"}, !image {reprise.name = "transposed"},
        tensor<12x4x3x3xbf16> {reprise.name = "filter gradient"}, tensor<8x1x5x5xbf16> {reprise.name = "depthwise gradient"}) {
  %same = reprise.convolution %x, %w strides [1, 1] low [1, 1] high [1, 1] dilation [1, 1] : (!image, tensor<12x8x3x3xbf16>) -> tensor<3x12x19x18xbf16>
  %spread = reprise.broadcast %bias dims [1] : (tensor<12xbf16>) -> tensor<3x12x19x18xbf16>
  %sum = reprise.add %same, %spread : tensor<3x12x19x18xbf16>
  %activated = reprise.relu %sum : tensor<3x12x19x18xbf16>
  %strided = reprise.convolution %x, %v strides [2, 2] low [1, 1] high [1, 1] dilation [1, 1] {groups = 2 : i64} : (!image, tensor<12x4x3x3xbf16>) -> !output
  %depthwise = reprise.convolution %x, %d strides [1, 1] low [4, 2] high [4, 2] dilation [2, 1] {groups = 8 : i64} : (!image, tensor<8x1x5x5xbf16>) -> !image
  %pointwise = reprise.convolution %x, %p strides [1, 1] low [0, 0] high [0, 0] dilation [1, 1] : (!image, tensor<16x8x1x1xbf16>) -> tensor<3x16x19x18xbf16>
  %back = reprise.convolution_transpose %activated, %w strides [1, 1] low [1, 1] high [1, 1] dilation [1, 1] : (tensor<3x12x19x18xbf16>, tensor<12x8x3x3xbf16>) -> !image
  %transposed = reprise.convolution_transpose %y, %v strides [2, 2] low [1, 1] high [1, 1] dilation [1, 1] {groups = 2 : i64} : (!output, tensor<12x4x3x3xbf16>) -> !image
  %filter = reprise.convolution_filter %x, %y strides [2, 2] low [1, 1] high [1, 1] dilation [1, 1] {groups = 2 : i64} : (!image, !output) -> tensor<12x4x3x3xbf16>
  %lone = reprise.convolution_filter %x, %depthwise strides [1, 1] low [4, 2] high [4, 2] dilation [2, 1] {groups = 8 : i64} : (!image, !image) -> tensor<8x1x5x5xbf16>
  return %activated, %strided, %depthwise, %pointwise, %back, %transposed, %filter, %lone
      : tensor<3x12x19x18xbf16>, !output, !image, tensor<3x16x19x18xbf16>, !image, !image, tensor<12x4x3x3xbf16>, tensor<8x1x5x5xbf16>
}

func.func @pools(
    %x: !image {reprise.role = "input", reprise.name = "x", reprise.init = #reprise.normal<0.0, 1.0>})
    -> (tensor<3x8x10x9xbf16> {reprise.name = "maxima"}, tensor<3x8x10x9xi32> {reprise.name = "positions"},
        tensor<3x8x10x9xbf16> {reprise.name = "means"}, tensor<3x8x4x5xbf16> {reprise.name = "adaptive"}, !image {reprise.name = "back"}) {
  %maxima, %positions = reprise.max_pool %x window [3, 3] strides [2, 2] low [1, 1] high [1, 1] : (!image) -> (tensor<3x8x10x9xbf16>, tensor<3x8x10x9xi32>)
  %means = reprise.average_pool %x window [3, 3] strides [2, 2] low [1, 1] high [1, 1] : (!image) -> tensor<3x8x10x9xbf16>
  %adaptive = reprise.average_pool %x adaptive window [] strides [] low [] high [] : (!image) -> tensor<3x8x4x5xbf16>
  %back = reprise.average_pool_backward %means window [3, 3] strides [2, 2] low [1, 1] high [1, 1] : (tensor<3x8x10x9xbf16>) -> !image
  return %maxima, %positions, %means, %adaptive, %back
      : tensor<3x8x10x9xbf16>, tensor<3x8x10x9xi32>, tensor<3x8x10x9xbf16>, tensor<3x8x4x5xbf16>, !image
}
