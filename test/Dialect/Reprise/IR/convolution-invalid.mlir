// Convolutions and pooling: what the verifiers refuse.
// RUN: reprise-opt %s -verify-diagnostics -split-input-file

func.func @rank(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'reprise.convolution' op expected image [n, c, spatial…], filter [o, c / groups, window…] and output [n, o, spatial…] with one or two spatial dimensions}}
  %0 = reprise.convolution %x, %x strides [] low [] high [] dilation [] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @three_dimensions(%x: tensor<2x3x4x4x4xf32>, %f: tensor<2x3x1x1x1xf32>) {
  // expected-error@+1 {{'reprise.convolution' op expected image [n, c, spatial…], filter [o, c / groups, window…] and output [n, o, spatial…] with one or two spatial dimensions}}
  %0 = reprise.convolution %x, %f strides [1, 1, 1] low [0, 0, 0] high [0, 0, 0] dilation [1, 1, 1] : (tensor<2x3x4x4x4xf32>, tensor<2x3x1x1x1xf32>) -> tensor<2x2x4x4x4xf32>
  return
}

// -----

func.func @types(%x: tensor<2x3x4xf32>, %f: tensor<2x3x1xf16>) {
  // expected-error@+1 {{'reprise.convolution' op expected image, filter and output of one element type}}
  %0 = reprise.convolution %x, %f strides [1] low [0] high [0] dilation [1] : (tensor<2x3x4xf32>, tensor<2x3x1xf16>) -> tensor<2x2x4xf32>
  return
}

// -----

func.func @strides(%x: tensor<2x3x4xf32>, %f: tensor<2x3x1xf32>) {
  // expected-error@+1 {{'reprise.convolution' op expected 1 strides of at least 1}}
  %0 = reprise.convolution %x, %f strides [0] low [0] high [0] dilation [1] : (tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x2x4xf32>
  return
}

// -----

func.func @low(%x: tensor<2x3x4xf32>, %f: tensor<2x3x1xf32>) {
  // expected-error@+1 {{'reprise.convolution' op expected 1 low paddings of at least 0}}
  %0 = reprise.convolution %x, %f strides [1] low [-1] high [0] dilation [1] : (tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x2x4xf32>
  return
}

// -----

func.func @high(%x: tensor<2x3x4xf32>, %f: tensor<2x3x1xf32>) {
  // expected-error@+1 {{'reprise.convolution' op expected 1 high paddings of at least 0}}
  %0 = reprise.convolution %x, %f strides [1] low [0] high [] dilation [1] : (tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x2x4xf32>
  return
}

// -----

func.func @dilation(%x: tensor<2x3x4xf32>, %f: tensor<2x3x1xf32>) {
  // expected-error@+1 {{'reprise.convolution' op expected 1 dilations of at least 1}}
  %0 = reprise.convolution %x, %f strides [1] low [0] high [0] dilation [4294967296] : (tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x2x4xf32>
  return
}

// -----

func.func @groups(%x: tensor<2x3x4xf32>, %f: tensor<2x3x1xf32>) {
  // expected-error@+1 {{'reprise.convolution' op expected 2 groups of channels that fit image, filter and output, got 'tensor<2x3x4xf32>', 'tensor<2x3x1xf32>' and 'tensor<2x2x4xf32>'}}
  %0 = reprise.convolution %x, %f strides [1] low [0] high [0] dilation [1] {groups = 2 : i64} : (tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x2x4xf32>
  return
}

// -----

func.func @window(%x: tensor<2x3x4xf32>, %f: tensor<2x3x0xf32>) {
  // expected-error@+1 {{'reprise.convolution' op expected a non-empty window}}
  %0 = reprise.convolution %x, %f strides [1] low [0] high [0] dilation [1] : (tensor<2x3x4xf32>, tensor<2x3x0xf32>) -> tensor<2x2x5xf32>
  return
}

// -----

func.func @output(%x: tensor<2x3x4xf32>, %f: tensor<2x3x3xf32>) {
  // expected-error@+1 {{'reprise.convolution' op expected 2 output positions in spatial dimension 0, got 3}}
  %0 = reprise.convolution %x, %f strides [2] low [1] high [1] dilation [1] : (tensor<2x3x4xf32>, tensor<2x3x3xf32>) -> tensor<2x2x3xf32>
  return
}

// -----

func.func @transpose(%y: tensor<2x2x3xf32>, %f: tensor<2x3x3xf32>) {
  // expected-error@+1 {{'reprise.convolution_transpose' op expected 2 output positions in spatial dimension 0, got 3}}
  %0 = reprise.convolution_transpose %y, %f strides [2] low [1] high [1] dilation [1] : (tensor<2x2x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @filter(%x: tensor<2x3x4xf32>, %y: tensor<2x2x3xf32>) {
  // expected-error@+1 {{'reprise.convolution_filter' op expected 2 output positions in spatial dimension 0, got 3}}
  %0 = reprise.convolution_filter %x, %y strides [2] low [1] high [1] dilation [1] : (tensor<2x3x4xf32>, tensor<2x2x3xf32>) -> tensor<2x3x3xf32>
  return
}

// -----

func.func @pool_shape(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{'reprise.average_pool' op expected [n, c, spatial…] on both sides, with one or two spatial dimensions, but got 'tensor<2x3x4xf32>' and 'tensor<2x4x2xf32>'}}
  %0 = reprise.average_pool %x window [2] strides [2] low [0] high [0] : (tensor<2x3x4xf32>) -> tensor<2x4x2xf32>
  return
}

// -----

func.func @pool_window(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{'reprise.average_pool' op expected 1 window sizes of at least 1}}
  %0 = reprise.average_pool %x window [2, 2] strides [2] low [0] high [0] : (tensor<2x3x4xf32>) -> tensor<2x3x2xf32>
  return
}

// -----

func.func @adaptive_window(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{'reprise.average_pool' op expected 0 window sizes of at least 1}}
  %0 = reprise.average_pool %x adaptive window [2] strides [] low [] high [] : (tensor<2x3x4xf32>) -> tensor<2x3x2xf32>
  return
}

// -----

func.func @empty_image(%x: tensor<2x3x0xf32>) {
  // expected-error@+1 {{'reprise.average_pool' op expected a non-empty image, got 'tensor<2x3x0xf32>'}}
  %0 = reprise.average_pool %x window [1] strides [1] low [1] high [0] : (tensor<2x3x0xf32>) -> tensor<2x3x1xf32>
  return
}

// -----

func.func @steps(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{'reprise.average_pool_backward' op expected 2 output positions in spatial dimension 0, got 4}}
  %0 = reprise.average_pool_backward %x window [2] strides [2] low [0] high [0] : (tensor<2x3x4xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @outside(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{'reprise.average_pool' op expected no window outside of the image in spatial dimension 0}}
  %0 = reprise.average_pool %x window [2] strides [1] low [2] high [0] : (tensor<2x3x4xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @positions(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{'reprise.max_pool' op expected one position per result}}
  %0:2 = reprise.max_pool %x window [2] strides [2] low [0] high [0] : (tensor<2x3x4xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x3xi32>)
  return
}
