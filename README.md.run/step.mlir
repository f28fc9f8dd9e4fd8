module @gpt2 {
  reprise.program @train devices [0] (%arg0: tensor<8x32xi32> {reprise.batch_dim = 0 : i64, reprise.init = #reprise.uniform_int<0, 256>, reprise.name = "tokens", reprise.role = "input"}, %arg1: tensor<8x32xi32> {reprise.batch_dim = 0 : i64, reprise.init = #reprise.uniform_int<0, 256>, reprise.name = "labels", reprise.role = "input"}, %arg2: tensor<f32> {reprise.init = #reprise.fill<1.000000e-01>, reprise.name = "learning_rate", reprise.role = "input"}, %arg3: tensor<256x64xf32> {reprise.init = #reprise.normal<0.000000e+00, 2.000000e-02>, reprise.name = "embedding", reprise.role = "parameter"}, %arg4: tensor<32x64xf32> {reprise.init = #reprise.normal<0.000000e+00, 2.000000e-02>, reprise.name = "position", reprise.role = "parameter"}, %arg5: tensor<64xf32> {reprise.init = #reprise.fill<1.000000e+00>, reprise.name = "layer/0/norm1/weight", reprise.role = "parameter"}, %arg6: tensor<64xf32> {reprise.init = #reprise.fill<0.000000e+00>, reprise.name = "layer/0/norm1/bias", reprise.role = "parameter"}, %arg7: tensor<64x1x64xf32> {reprise.init = #reprise.normal<0.000000e+00, 2.000000e-02>, reprise.name = "layer/0/query/weight", reprise.role = "parameter"}, %arg8: tensor<1x64xf32> {reprise.init = #reprise.fill<0.000000e+00>, reprise.name = "layer/0/query/bias", reprise.role = "parameter"}, %arg9: tensor<64x1x64xf32> {reprise.init = #reprise.normal<0.000000e+00, 2.000000e-02>, reprise.name = "layer/0/key/weight", reprise.role = "parameter"}, %arg10: tensor<1x64xf32> {reprise.init = #reprise.fill<0.000000e+00>, reprise.name = "layer/0/key/bias", reprise.role = "parameter"}, %arg11: tensor<64x1x64xf32> {reprise.init = #reprise.normal<0.000000e+00, 2.000000e-02>, reprise.name = "layer/0/value/weight", reprise.role = "parameter"}, %arg12: tensor<1x64xf32> {reprise.init = #reprise.fill<0.000000e+00>, reprise.name = "layer/0/value/bias", reprise.role = "parameter"}, %arg13: tensor<1x64x64xf32> {reprise.init = #reprise.normal<0.000000e+00, 0.0070710678118654745>, reprise.name = "layer/0/projection/weight", reprise.role = "parameter"}, %arg14: tensor<64xf32> {reprise.init = #reprise.fill<0.000000e+00>, reprise.name = "layer/0/projection/bias", reprise.role = "parameter"}, %arg15: tensor<64xf32> {reprise.init = #reprise.fill<1.000000e+00>, reprise.name = "layer/0/norm2/weight", reprise.role = "parameter"}, %arg16: tensor<64xf32> {reprise.init = #reprise.fill<0.000000e+00>, reprise.name = "layer/0/norm2/bias", reprise.role = "parameter"}, %arg17: tensor<64x256xf32> {reprise.init = #reprise.normal<0.000000e+00, 2.000000e-02>, reprise.name = "layer/0/up/weight", reprise.role = "parameter"}, %arg18: tensor<256xf32> {reprise.init = #reprise.fill<0.000000e+00>, reprise.name = "layer/0/up/bias", reprise.role = "parameter"}, %arg19: tensor<256x64xf32> {reprise.init = #reprise.normal<0.000000e+00, 0.0070710678118654745>, reprise.name = "layer/0/down/weight", reprise.role = "parameter"}, %arg20: tensor<64xf32> {reprise.init = #reprise.fill<0.000000e+00>, reprise.name = "layer/0/down/bias", reprise.role = "parameter"}, %arg21: tensor<64xf32> {reprise.init = #reprise.fill<1.000000e+00>, reprise.name = "layer/1/norm1/weight", reprise.role = "parameter"}, %arg22: tensor<64xf32> {reprise.init = #reprise.fill<0.000000e+00>, reprise.name = "layer/1/norm1/bias", reprise.role = "parameter"}, %arg23: tensor<64x1x64xf32> {reprise.init = #reprise.normal<0.000000e+00, 2.000000e-02>, reprise.name = "layer/1/query/weight", reprise.role = "parameter"}, %arg24: tensor<1x64xf32> {reprise.init = #reprise.fill<0.000000e+00>, reprise.name = "layer/1/query/bias", reprise.role = "parameter"}, %arg25: tensor<64x1x64xf32> {reprise.init = #reprise.normal<0.000000e+00, 2.000000e-02>, reprise.name = "layer/1/key/weight", reprise.role = "parameter"}, %arg26: tensor<1x64xf32> {reprise.init = #reprise.fill<0.000000e+00>, reprise.name = "layer/1/key/bias", reprise.role = "parameter"}, %arg27: tensor<64x1x64xf32> {reprise.init = #reprise.normal<0.000000e+00, 2.000000e-02>, reprise.name = "layer/1/value/weight", reprise.role = "parameter"}, %arg28: tensor<1x64xf32> {reprise.init = #reprise.fill<0.000000e+00>, reprise.name = "layer/1/value/bias", reprise.role = "parameter"}, %arg29: tensor<1x64x64xf32> {reprise.init = #reprise.normal<0.000000e+00, 0.0070710678118654745>, reprise.name = "layer/1/projection/weight", reprise.role = "parameter"}, %arg30: tensor<64xf32> {reprise.init = #reprise.fill<0.000000e+00>, reprise.name = "layer/1/projection/bias", reprise.role = "parameter"}, %arg31: tensor<64xf32> {reprise.init = #reprise.fill<1.000000e+00>, reprise.name = "layer/1/norm2/weight", reprise.role = "parameter"}, %arg32: tensor<64xf32> {reprise.init = #reprise.fill<0.000000e+00>, reprise.name = "layer/1/norm2/bias", reprise.role = "parameter"}, %arg33: tensor<64x256xf32> {reprise.init = #reprise.normal<0.000000e+00, 2.000000e-02>, reprise.name = "layer/1/up/weight", reprise.role = "parameter"}, %arg34: tensor<256xf32> {reprise.init = #reprise.fill<0.000000e+00>, reprise.name = "layer/1/up/bias", reprise.role = "parameter"}, %arg35: tensor<256x64xf32> {reprise.init = #reprise.normal<0.000000e+00, 0.0070710678118654745>, reprise.name = "layer/1/down/weight", reprise.role = "parameter"}, %arg36: tensor<64xf32> {reprise.init = #reprise.fill<0.000000e+00>, reprise.name = "layer/1/down/bias", reprise.role = "parameter"}, %arg37: tensor<64xf32> {reprise.init = #reprise.fill<1.000000e+00>, reprise.name = "layer/2/norm1/weight", reprise.role = "parameter"}, %arg38: tensor<64xf32> {reprise.init = #reprise.fill<0.000000e+00>, reprise.name = "layer/2/norm1/bias", reprise.role = "parameter"}, %arg39: tensor<64x1x64xf32> {reprise.init = #reprise.normal<0.000000e+00, 2.000000e-02>, reprise.name = "layer/2/query/weight", reprise.role = "parameter"}, %arg40: tensor<1x64xf32> {reprise.init = #reprise.fill<0.000000e+00>, reprise.name = "layer/2/query/bias", reprise.role = "parameter"}, %arg41: tensor<64x1x64xf32> {reprise.init = #reprise.normal<0.000000e+00, 2.000000e-02>, reprise.name = "layer/2/key/weight", reprise.role = "parameter"}, %arg42: tensor<1x64xf32> {reprise.init = #reprise.fill<0.000000e+00>, reprise.name = "layer/2/key/bias", reprise.role = "parameter"}, %arg43: tensor<64x1x64xf32> {reprise.init = #reprise.normal<0.000000e+00, 2.000000e-02>, reprise.name = "layer/2/value/weight", reprise.role = "parameter"}, %arg44: tensor<1x64xf32> {reprise.init = #reprise.fill<0.000000e+00>, reprise.name = "layer/2/value/bias", reprise.role = "parameter"}, %arg45: tensor<1x64x64xf32> {reprise.init = #reprise.normal<0.000000e+00, 0.0070710678118654745>, reprise.name = "layer/2/projection/weight", reprise.role = "parameter"}, %arg46: tensor<64xf32> {reprise.init = #reprise.fill<0.000000e+00>, reprise.name = "layer/2/projection/bias", reprise.role = "parameter"}, %arg47: tensor<64xf32> {reprise.init = #reprise.fill<1.000000e+00>, reprise.name = "layer/2/norm2/weight", reprise.role = "parameter"}, %arg48: tensor<64xf32> {reprise.init = #reprise.fill<0.000000e+00>, reprise.name = "layer/2/norm2/bias", reprise.role = "parameter"}, %arg49: tensor<64x256xf32> {reprise.init = #reprise.normal<0.000000e+00, 2.000000e-02>, reprise.name = "layer/2/up/weight", reprise.role = "parameter"}, %arg50: tensor<256xf32> {reprise.init = #reprise.fill<0.000000e+00>, reprise.name = "layer/2/up/bias", reprise.role = "parameter"}, %arg51: tensor<256x64xf32> {reprise.init = #reprise.normal<0.000000e+00, 0.0070710678118654745>, reprise.name = "layer/2/down/weight", reprise.role = "parameter"}, %arg52: tensor<64xf32> {reprise.init = #reprise.fill<0.000000e+00>, reprise.name = "layer/2/down/bias", reprise.role = "parameter"}, %arg53: tensor<64xf32> {reprise.init = #reprise.fill<1.000000e+00>, reprise.name = "layer/3/norm1/weight", reprise.role = "parameter"}, %arg54: tensor<64xf32> {reprise.init = #reprise.fill<0.000000e+00>, reprise.name = "layer/3/norm1/bias", reprise.role = "parameter"}, %arg55: tensor<64x1x64xf32> {reprise.init = #reprise.normal<0.000000e+00, 2.000000e-02>, reprise.name = "layer/3/query/weight", reprise.role = "parameter"}, %arg56: tensor<1x64xf32> {reprise.init = #reprise.fill<0.000000e+00>, reprise.name = "layer/3/query/bias", reprise.role = "parameter"}, %arg57: tensor<64x1x64xf32> {reprise.init = #reprise.normal<0.000000e+00, 2.000000e-02>, reprise.name = "layer/3/key/weight", reprise.role = "parameter"}, %arg58: tensor<1x64xf32> {reprise.init = #reprise.fill<0.000000e+00>, reprise.name = "layer/3/key/bias", reprise.role = "parameter"}, %arg59: tensor<64x1x64xf32> {reprise.init = #reprise.normal<0.000000e+00, 2.000000e-02>, reprise.name = "layer/3/value/weight", reprise.role = "parameter"}, %arg60: tensor<1x64xf32> {reprise.init = #reprise.fill<0.000000e+00>, reprise.name = "layer/3/value/bias", reprise.role = "parameter"}, %arg61: tensor<1x64x64xf32> {reprise.init = #reprise.normal<0.000000e+00, 0.0070710678118654745>, reprise.name = "layer/3/projection/weight", reprise.role = "parameter"}, %arg62: tensor<64xf32> {reprise.init = #reprise.fill<0.000000e+00>, reprise.name = "layer/3/projection/bias", reprise.role = "parameter"}, %arg63: tensor<64xf32> {reprise.init = #reprise.fill<1.000000e+00>, reprise.name = "layer/3/norm2/weight", reprise.role = "parameter"}, %arg64: tensor<64xf32> {reprise.init = #reprise.fill<0.000000e+00>, reprise.name = "layer/3/norm2/bias", reprise.role = "parameter"}, %arg65: tensor<64x256xf32> {reprise.init = #reprise.normal<0.000000e+00, 2.000000e-02>, reprise.name = "layer/3/up/weight", reprise.role = "parameter"}, %arg66: tensor<256xf32> {reprise.init = #reprise.fill<0.000000e+00>, reprise.name = "layer/3/up/bias", reprise.role = "parameter"}, %arg67: tensor<256x64xf32> {reprise.init = #reprise.normal<0.000000e+00, 0.0070710678118654745>, reprise.name = "layer/3/down/weight", reprise.role = "parameter"}, %arg68: tensor<64xf32> {reprise.init = #reprise.fill<0.000000e+00>, reprise.name = "layer/3/down/bias", reprise.role = "parameter"}, %arg69: tensor<64xf32> {reprise.init = #reprise.fill<1.000000e+00>, reprise.name = "norm/weight", reprise.role = "parameter"}, %arg70: tensor<64xf32> {reprise.init = #reprise.fill<0.000000e+00>, reprise.name = "norm/bias", reprise.role = "parameter"}, %arg71: tensor<i64> {reprise.name = "seed", reprise.role = "seed"}, %arg72: tensor<i64> {reprise.name = "offset", reprise.role = "offset"}) -> (tensor<f32> {reprise.name = "loss"}, tensor<256x64xf32> {reprise.name = "embedding"}, tensor<32x64xf32> {reprise.name = "position"}, tensor<64xf32> {reprise.name = "layer/0/norm1/weight"}, tensor<64xf32> {reprise.name = "layer/0/norm1/bias"}, tensor<64x1x64xf32> {reprise.name = "layer/0/query/weight"}, tensor<1x64xf32> {reprise.name = "layer/0/query/bias"}, tensor<64x1x64xf32> {reprise.name = "layer/0/key/weight"}, tensor<1x64xf32> {reprise.name = "layer/0/key/bias"}, tensor<64x1x64xf32> {reprise.name = "layer/0/value/weight"}, tensor<1x64xf32> {reprise.name = "layer/0/value/bias"}, tensor<1x64x64xf32> {reprise.name = "layer/0/projection/weight"}, tensor<64xf32> {reprise.name = "layer/0/projection/bias"}, tensor<64xf32> {reprise.name = "layer/0/norm2/weight"}, tensor<64xf32> {reprise.name = "layer/0/norm2/bias"}, tensor<64x256xf32> {reprise.name = "layer/0/up/weight"}, tensor<256xf32> {reprise.name = "layer/0/up/bias"}, tensor<256x64xf32> {reprise.name = "layer/0/down/weight"}, tensor<64xf32> {reprise.name = "layer/0/down/bias"}, tensor<64xf32> {reprise.name = "layer/1/norm1/weight"}, tensor<64xf32> {reprise.name = "layer/1/norm1/bias"}, tensor<64x1x64xf32> {reprise.name = "layer/1/query/weight"}, tensor<1x64xf32> {reprise.name = "layer/1/query/bias"}, tensor<64x1x64xf32> {reprise.name = "layer/1/key/weight"}, tensor<1x64xf32> {reprise.name = "layer/1/key/bias"}, tensor<64x1x64xf32> {reprise.name = "layer/1/value/weight"}, tensor<1x64xf32> {reprise.name = "layer/1/value/bias"}, tensor<1x64x64xf32> {reprise.name = "layer/1/projection/weight"}, tensor<64xf32> {reprise.name = "layer/1/projection/bias"}, tensor<64xf32> {reprise.name = "layer/1/norm2/weight"}, tensor<64xf32> {reprise.name = "layer/1/norm2/bias"}, tensor<64x256xf32> {reprise.name = "layer/1/up/weight"}, tensor<256xf32> {reprise.name = "layer/1/up/bias"}, tensor<256x64xf32> {reprise.name = "layer/1/down/weight"}, tensor<64xf32> {reprise.name = "layer/1/down/bias"}, tensor<64xf32> {reprise.name = "layer/2/norm1/weight"}, tensor<64xf32> {reprise.name = "layer/2/norm1/bias"}, tensor<64x1x64xf32> {reprise.name = "layer/2/query/weight"}, tensor<1x64xf32> {reprise.name = "layer/2/query/bias"}, tensor<64x1x64xf32> {reprise.name = "layer/2/key/weight"}, tensor<1x64xf32> {reprise.name = "layer/2/key/bias"}, tensor<64x1x64xf32> {reprise.name = "layer/2/value/weight"}, tensor<1x64xf32> {reprise.name = "layer/2/value/bias"}, tensor<1x64x64xf32> {reprise.name = "layer/2/projection/weight"}, tensor<64xf32> {reprise.name = "layer/2/projection/bias"}, tensor<64xf32> {reprise.name = "layer/2/norm2/weight"}, tensor<64xf32> {reprise.name = "layer/2/norm2/bias"}, tensor<64x256xf32> {reprise.name = "layer/2/up/weight"}, tensor<256xf32> {reprise.name = "layer/2/up/bias"}, tensor<256x64xf32> {reprise.name = "layer/2/down/weight"}, tensor<64xf32> {reprise.name = "layer/2/down/bias"}, tensor<64xf32> {reprise.name = "layer/3/norm1/weight"}, tensor<64xf32> {reprise.name = "layer/3/norm1/bias"}, tensor<64x1x64xf32> {reprise.name = "layer/3/query/weight"}, tensor<1x64xf32> {reprise.name = "layer/3/query/bias"}, tensor<64x1x64xf32> {reprise.name = "layer/3/key/weight"}, tensor<1x64xf32> {reprise.name = "layer/3/key/bias"}, tensor<64x1x64xf32> {reprise.name = "layer/3/value/weight"}, tensor<1x64xf32> {reprise.name = "layer/3/value/bias"}, tensor<1x64x64xf32> {reprise.name = "layer/3/projection/weight"}, tensor<64xf32> {reprise.name = "layer/3/projection/bias"}, tensor<64xf32> {reprise.name = "layer/3/norm2/weight"}, tensor<64xf32> {reprise.name = "layer/3/norm2/bias"}, tensor<64x256xf32> {reprise.name = "layer/3/up/weight"}, tensor<256xf32> {reprise.name = "layer/3/up/bias"}, tensor<256x64xf32> {reprise.name = "layer/3/down/weight"}, tensor<64xf32> {reprise.name = "layer/3/down/bias"}, tensor<64xf32> {reprise.name = "norm/weight"}, tensor<64xf32> {reprise.name = "norm/bias"}, tensor<i64> {reprise.name = "offset"}) {
    %0 = reprise.constant dense<3.906250e-03> : tensor<8x32x256xf32>
    %1 = reprise.constant {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} dense<5.000000e-01> : tensor<8x32x256xf32>
    %2 = reprise.constant {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} dense<1.341450e-01> : tensor<8x32x256xf32>
    %3 = reprise.constant {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} dense<0.797884583> : tensor<8x32x256xf32>
    %4 = reprise.constant {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} dense<4.471500e-02> : tensor<8x32x256xf32>
    %5 = reprise.constant {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} dense<1.000000e+00> : tensor<8x32x256xf32>
    %6 = reprise.constant {reprise.block = array<i64: 5>, reprise.cotangent, reprise.order = 1 : i64} dense<255> : tensor<8x32xi32>
    %7 = reprise.constant {reprise.block = array<i64: 5>, reprise.cotangent, reprise.order = 1 : i64} dense<0> : tensor<8x32xi32>
    %8 = reprise.constant dense<9.99999974E-6> : tensor<8x32xf32>
    %9 = reprise.constant dense<16384> : tensor<i64>
    %10 = reprise.gather %arg3[%arg0] {reprise.block = array<i64: 0>, reprise.primal} : (tensor<256x64xf32>, tensor<8x32xi32>) -> tensor<8x32x64xf32>
    %11 = reprise.broadcast %arg4 dims [1, 2] {reprise.block = array<i64: 0>, reprise.primal} : (tensor<32x64xf32>) -> tensor<8x32x64xf32>
    %12 = reprise.add %10, %11 {reprise.block = array<i64: 0>, reprise.primal} : tensor<8x32x64xf32>
    %13 = reprise.dropout %12 seed %arg71 offset %arg72 {global_shape = array<i64: 8, 32, 64>, rate = 1.000000e-01 : f64, reprise.block = array<i64: 0>, reprise.primal, stream = 0 : i64} : tensor<8x32x64xf32>
    %14 = reprise.mean %13 dims [2] {reprise.block = array<i64: 1>, reprise.primal} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %15 = reprise.broadcast %14 dims [0, 1] {reprise.block = array<i64: 1>, reprise.primal} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %16 = reprise.sub %13, %15 {reprise.block = array<i64: 1>, reprise.primal} : tensor<8x32x64xf32>
    %17 = reprise.mul %16, %16 {reprise.block = array<i64: 1>, reprise.primal} : tensor<8x32x64xf32>
    %18 = reprise.mean %17 dims [2] {reprise.block = array<i64: 1>, reprise.primal} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %19 = reprise.add %18, %8 {reprise.block = array<i64: 1>, reprise.primal} : tensor<8x32xf32>
    %20 = reprise.rsqrt %19 {reprise.block = array<i64: 1>, reprise.primal} : tensor<8x32xf32>
    %21 = reprise.broadcast %20 dims [0, 1] {reprise.block = array<i64: 1>, reprise.primal} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %22 = reprise.mul %16, %21 {reprise.block = array<i64: 1>, reprise.primal} : tensor<8x32x64xf32>
    %23 = reprise.broadcast %arg5 dims [2] {reprise.block = array<i64: 1>, reprise.primal} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %24 = reprise.mul %22, %23 {reprise.block = array<i64: 1>, reprise.primal} : tensor<8x32x64xf32>
    %25 = reprise.broadcast %arg6 dims [2] {reprise.block = array<i64: 1>, reprise.primal} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %26 = reprise.add %24, %25 {reprise.block = array<i64: 1>, reprise.primal} : tensor<8x32x64xf32>
    %27 = reprise.dot_general %26, %arg7 contracting [2] x [0] {reprise.block = array<i64: 1>, reprise.primal} : (tensor<8x32x64xf32>, tensor<64x1x64xf32>) -> tensor<8x32x1x64xf32>
    %28 = reprise.broadcast %arg8 dims [2, 3] {reprise.block = array<i64: 1>, reprise.primal} : (tensor<1x64xf32>) -> tensor<8x32x1x64xf32>
    %29 = reprise.add %27, %28 {reprise.block = array<i64: 1>, reprise.primal} : tensor<8x32x1x64xf32>
    %30 = reprise.transpose %29 [0, 2, 1, 3] {reprise.block = array<i64: 1>, reprise.primal} : (tensor<8x32x1x64xf32>) -> tensor<8x1x32x64xf32>
    %31 = reprise.dot_general %26, %arg9 contracting [2] x [0] {reprise.block = array<i64: 1>, reprise.primal} : (tensor<8x32x64xf32>, tensor<64x1x64xf32>) -> tensor<8x32x1x64xf32>
    %32 = reprise.broadcast %arg10 dims [2, 3] {reprise.block = array<i64: 1>, reprise.primal} : (tensor<1x64xf32>) -> tensor<8x32x1x64xf32>
    %33 = reprise.add %31, %32 {reprise.block = array<i64: 1>, reprise.primal} : tensor<8x32x1x64xf32>
    %34 = reprise.transpose %33 [0, 2, 1, 3] {reprise.block = array<i64: 1>, reprise.primal} : (tensor<8x32x1x64xf32>) -> tensor<8x1x32x64xf32>
    %35 = reprise.dot_general %26, %arg11 contracting [2] x [0] {reprise.block = array<i64: 1>, reprise.primal} : (tensor<8x32x64xf32>, tensor<64x1x64xf32>) -> tensor<8x32x1x64xf32>
    %36 = reprise.broadcast %arg12 dims [2, 3] {reprise.block = array<i64: 1>, reprise.primal} : (tensor<1x64xf32>) -> tensor<8x32x1x64xf32>
    %37 = reprise.add %35, %36 {reprise.block = array<i64: 1>, reprise.primal} : tensor<8x32x1x64xf32>
    %38 = reprise.transpose %37 [0, 2, 1, 3] {reprise.block = array<i64: 1>, reprise.primal} : (tensor<8x32x1x64xf32>) -> tensor<8x1x32x64xf32>
    %out, %lse = reprise.attention %30, %34, %38 seed %arg71 offset %arg72 {causal, global_shape = array<i64: 8, 1, 32, 32>, rate = 1.000000e-01 : f64, reprise.block = array<i64: 1>, reprise.primal, scale = 1.250000e-01 : f64, stream = 1 : i64} : (tensor<8x1x32x64xf32>, tensor<8x1x32x64xf32>, tensor<8x1x32x64xf32>) -> (tensor<8x1x32x64xf32>, tensor<8x1x32xf32>)
    %39 = reprise.dot_general %out, %arg13 contracting [1, 3] x [0, 1] {reprise.block = array<i64: 1>, reprise.primal} : (tensor<8x1x32x64xf32>, tensor<1x64x64xf32>) -> tensor<8x32x64xf32>
    %40 = reprise.broadcast %arg14 dims [2] {reprise.block = array<i64: 1>, reprise.primal} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %41 = reprise.add %39, %40 {reprise.block = array<i64: 1>, reprise.primal} : tensor<8x32x64xf32>
    %42 = reprise.dropout %41 seed %arg71 offset %arg72 {global_shape = array<i64: 8, 32, 64>, rate = 1.000000e-01 : f64, reprise.block = array<i64: 1>, reprise.primal, stream = 2 : i64} : tensor<8x32x64xf32>
    %43 = reprise.add %13, %42 {reprise.block = array<i64: 1>, reprise.names = ["residual"], reprise.primal} : tensor<8x32x64xf32>
    %44 = reprise.mean %43 dims [2] {reprise.block = array<i64: 1>, reprise.primal} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %45 = reprise.broadcast %44 dims [0, 1] {reprise.block = array<i64: 1>, reprise.primal} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %46 = reprise.sub %43, %45 {reprise.block = array<i64: 1>, reprise.primal} : tensor<8x32x64xf32>
    %47 = reprise.mul %46, %46 {reprise.block = array<i64: 1>, reprise.primal} : tensor<8x32x64xf32>
    %48 = reprise.mean %47 dims [2] {reprise.block = array<i64: 1>, reprise.primal} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %49 = reprise.add %48, %8 {reprise.block = array<i64: 1>, reprise.primal} : tensor<8x32xf32>
    %50 = reprise.rsqrt %49 {reprise.block = array<i64: 1>, reprise.primal} : tensor<8x32xf32>
    %51 = reprise.broadcast %50 dims [0, 1] {reprise.block = array<i64: 1>, reprise.primal} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %52 = reprise.mul %46, %51 {reprise.block = array<i64: 1>, reprise.primal} : tensor<8x32x64xf32>
    %53 = reprise.broadcast %arg15 dims [2] {reprise.block = array<i64: 1>, reprise.primal} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %54 = reprise.mul %52, %53 {reprise.block = array<i64: 1>, reprise.primal} : tensor<8x32x64xf32>
    %55 = reprise.broadcast %arg16 dims [2] {reprise.block = array<i64: 1>, reprise.primal} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %56 = reprise.add %54, %55 {reprise.block = array<i64: 1>, reprise.primal} : tensor<8x32x64xf32>
    %57 = reprise.dot_general %56, %arg17 contracting [2] x [0] {reprise.block = array<i64: 1>, reprise.primal} : (tensor<8x32x64xf32>, tensor<64x256xf32>) -> tensor<8x32x256xf32>
    %58 = reprise.broadcast %arg18 dims [2] {reprise.block = array<i64: 1>, reprise.primal} : (tensor<256xf32>) -> tensor<8x32x256xf32>
    %59 = reprise.add %57, %58 {reprise.block = array<i64: 1>, reprise.primal} : tensor<8x32x256xf32>
    %60 = reprise.gelu %59 {form = #reprise<gelu_form tanh>, reprise.block = array<i64: 1>, reprise.primal} : tensor<8x32x256xf32>
    %61 = reprise.dot_general %60, %arg19 contracting [2] x [0] {reprise.block = array<i64: 1>, reprise.primal} : (tensor<8x32x256xf32>, tensor<256x64xf32>) -> tensor<8x32x64xf32>
    %62 = reprise.broadcast %arg20 dims [2] {reprise.block = array<i64: 1>, reprise.primal} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %63 = reprise.add %61, %62 {reprise.block = array<i64: 1>, reprise.primal} : tensor<8x32x64xf32>
    %64 = reprise.dropout %63 seed %arg71 offset %arg72 {global_shape = array<i64: 8, 32, 64>, rate = 1.000000e-01 : f64, reprise.block = array<i64: 1>, reprise.primal, stream = 3 : i64} : tensor<8x32x64xf32>
    %65 = reprise.add %43, %64 {reprise.block = array<i64: 1>, reprise.names = ["residual"], reprise.primal} : tensor<8x32x64xf32>
    %66 = reprise.mean %65 dims [2] {reprise.block = array<i64: 2>, reprise.primal} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %67 = reprise.broadcast %66 dims [0, 1] {reprise.block = array<i64: 2>, reprise.primal} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %68 = reprise.sub %65, %67 {reprise.block = array<i64: 2>, reprise.primal} : tensor<8x32x64xf32>
    %69 = reprise.mul %68, %68 {reprise.block = array<i64: 2>, reprise.primal} : tensor<8x32x64xf32>
    %70 = reprise.mean %69 dims [2] {reprise.block = array<i64: 2>, reprise.primal} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %71 = reprise.add %70, %8 {reprise.block = array<i64: 2>, reprise.primal} : tensor<8x32xf32>
    %72 = reprise.rsqrt %71 {reprise.block = array<i64: 2>, reprise.primal} : tensor<8x32xf32>
    %73 = reprise.broadcast %72 dims [0, 1] {reprise.block = array<i64: 2>, reprise.primal} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %74 = reprise.mul %68, %73 {reprise.block = array<i64: 2>, reprise.primal} : tensor<8x32x64xf32>
    %75 = reprise.broadcast %arg21 dims [2] {reprise.block = array<i64: 2>, reprise.primal} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %76 = reprise.mul %74, %75 {reprise.block = array<i64: 2>, reprise.primal} : tensor<8x32x64xf32>
    %77 = reprise.broadcast %arg22 dims [2] {reprise.block = array<i64: 2>, reprise.primal} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %78 = reprise.add %76, %77 {reprise.block = array<i64: 2>, reprise.primal} : tensor<8x32x64xf32>
    %79 = reprise.dot_general %78, %arg23 contracting [2] x [0] {reprise.block = array<i64: 2>, reprise.primal} : (tensor<8x32x64xf32>, tensor<64x1x64xf32>) -> tensor<8x32x1x64xf32>
    %80 = reprise.broadcast %arg24 dims [2, 3] {reprise.block = array<i64: 2>, reprise.primal} : (tensor<1x64xf32>) -> tensor<8x32x1x64xf32>
    %81 = reprise.add %79, %80 {reprise.block = array<i64: 2>, reprise.primal} : tensor<8x32x1x64xf32>
    %82 = reprise.transpose %81 [0, 2, 1, 3] {reprise.block = array<i64: 2>, reprise.primal} : (tensor<8x32x1x64xf32>) -> tensor<8x1x32x64xf32>
    %83 = reprise.dot_general %78, %arg25 contracting [2] x [0] {reprise.block = array<i64: 2>, reprise.primal} : (tensor<8x32x64xf32>, tensor<64x1x64xf32>) -> tensor<8x32x1x64xf32>
    %84 = reprise.broadcast %arg26 dims [2, 3] {reprise.block = array<i64: 2>, reprise.primal} : (tensor<1x64xf32>) -> tensor<8x32x1x64xf32>
    %85 = reprise.add %83, %84 {reprise.block = array<i64: 2>, reprise.primal} : tensor<8x32x1x64xf32>
    %86 = reprise.transpose %85 [0, 2, 1, 3] {reprise.block = array<i64: 2>, reprise.primal} : (tensor<8x32x1x64xf32>) -> tensor<8x1x32x64xf32>
    %87 = reprise.dot_general %78, %arg27 contracting [2] x [0] {reprise.block = array<i64: 2>, reprise.primal} : (tensor<8x32x64xf32>, tensor<64x1x64xf32>) -> tensor<8x32x1x64xf32>
    %88 = reprise.broadcast %arg28 dims [2, 3] {reprise.block = array<i64: 2>, reprise.primal} : (tensor<1x64xf32>) -> tensor<8x32x1x64xf32>
    %89 = reprise.add %87, %88 {reprise.block = array<i64: 2>, reprise.primal} : tensor<8x32x1x64xf32>
    %90 = reprise.transpose %89 [0, 2, 1, 3] {reprise.block = array<i64: 2>, reprise.primal} : (tensor<8x32x1x64xf32>) -> tensor<8x1x32x64xf32>
    %out_0, %lse_1 = reprise.attention %82, %86, %90 seed %arg71 offset %arg72 {causal, global_shape = array<i64: 8, 1, 32, 32>, rate = 1.000000e-01 : f64, reprise.block = array<i64: 2>, reprise.primal, scale = 1.250000e-01 : f64, stream = 4 : i64} : (tensor<8x1x32x64xf32>, tensor<8x1x32x64xf32>, tensor<8x1x32x64xf32>) -> (tensor<8x1x32x64xf32>, tensor<8x1x32xf32>)
    %91 = reprise.dot_general %out_0, %arg29 contracting [1, 3] x [0, 1] {reprise.block = array<i64: 2>, reprise.primal} : (tensor<8x1x32x64xf32>, tensor<1x64x64xf32>) -> tensor<8x32x64xf32>
    %92 = reprise.broadcast %arg30 dims [2] {reprise.block = array<i64: 2>, reprise.primal} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %93 = reprise.add %91, %92 {reprise.block = array<i64: 2>, reprise.primal} : tensor<8x32x64xf32>
    %94 = reprise.dropout %93 seed %arg71 offset %arg72 {global_shape = array<i64: 8, 32, 64>, rate = 1.000000e-01 : f64, reprise.block = array<i64: 2>, reprise.primal, stream = 5 : i64} : tensor<8x32x64xf32>
    %95 = reprise.add %65, %94 {reprise.block = array<i64: 2>, reprise.names = ["residual"], reprise.primal} : tensor<8x32x64xf32>
    %96 = reprise.mean %95 dims [2] {reprise.block = array<i64: 2>, reprise.primal} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %97 = reprise.broadcast %96 dims [0, 1] {reprise.block = array<i64: 2>, reprise.primal} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %98 = reprise.sub %95, %97 {reprise.block = array<i64: 2>, reprise.primal} : tensor<8x32x64xf32>
    %99 = reprise.mul %98, %98 {reprise.block = array<i64: 2>, reprise.primal} : tensor<8x32x64xf32>
    %100 = reprise.mean %99 dims [2] {reprise.block = array<i64: 2>, reprise.primal} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %101 = reprise.add %100, %8 {reprise.block = array<i64: 2>, reprise.primal} : tensor<8x32xf32>
    %102 = reprise.rsqrt %101 {reprise.block = array<i64: 2>, reprise.primal} : tensor<8x32xf32>
    %103 = reprise.broadcast %102 dims [0, 1] {reprise.block = array<i64: 2>, reprise.primal} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %104 = reprise.mul %98, %103 {reprise.block = array<i64: 2>, reprise.primal} : tensor<8x32x64xf32>
    %105 = reprise.broadcast %arg31 dims [2] {reprise.block = array<i64: 2>, reprise.primal} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %106 = reprise.mul %104, %105 {reprise.block = array<i64: 2>, reprise.primal} : tensor<8x32x64xf32>
    %107 = reprise.broadcast %arg32 dims [2] {reprise.block = array<i64: 2>, reprise.primal} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %108 = reprise.add %106, %107 {reprise.block = array<i64: 2>, reprise.primal} : tensor<8x32x64xf32>
    %109 = reprise.dot_general %108, %arg33 contracting [2] x [0] {reprise.block = array<i64: 2>, reprise.primal} : (tensor<8x32x64xf32>, tensor<64x256xf32>) -> tensor<8x32x256xf32>
    %110 = reprise.broadcast %arg34 dims [2] {reprise.block = array<i64: 2>, reprise.primal} : (tensor<256xf32>) -> tensor<8x32x256xf32>
    %111 = reprise.add %109, %110 {reprise.block = array<i64: 2>, reprise.primal} : tensor<8x32x256xf32>
    %112 = reprise.gelu %111 {form = #reprise<gelu_form tanh>, reprise.block = array<i64: 2>, reprise.primal} : tensor<8x32x256xf32>
    %113 = reprise.dot_general %112, %arg35 contracting [2] x [0] {reprise.block = array<i64: 2>, reprise.primal} : (tensor<8x32x256xf32>, tensor<256x64xf32>) -> tensor<8x32x64xf32>
    %114 = reprise.broadcast %arg36 dims [2] {reprise.block = array<i64: 2>, reprise.primal} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %115 = reprise.add %113, %114 {reprise.block = array<i64: 2>, reprise.primal} : tensor<8x32x64xf32>
    %116 = reprise.dropout %115 seed %arg71 offset %arg72 {global_shape = array<i64: 8, 32, 64>, rate = 1.000000e-01 : f64, reprise.block = array<i64: 2>, reprise.primal, stream = 6 : i64} : tensor<8x32x64xf32>
    %117 = reprise.add %95, %116 {reprise.block = array<i64: 2>, reprise.names = ["residual"], reprise.primal} : tensor<8x32x64xf32>
    %118 = reprise.mean %117 dims [2] {reprise.block = array<i64: 3>, reprise.primal} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %119 = reprise.broadcast %118 dims [0, 1] {reprise.block = array<i64: 3>, reprise.primal} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %120 = reprise.sub %117, %119 {reprise.block = array<i64: 3>, reprise.primal} : tensor<8x32x64xf32>
    %121 = reprise.mul %120, %120 {reprise.block = array<i64: 3>, reprise.primal} : tensor<8x32x64xf32>
    %122 = reprise.mean %121 dims [2] {reprise.block = array<i64: 3>, reprise.primal} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %123 = reprise.add %122, %8 {reprise.block = array<i64: 3>, reprise.primal} : tensor<8x32xf32>
    %124 = reprise.rsqrt %123 {reprise.block = array<i64: 3>, reprise.primal} : tensor<8x32xf32>
    %125 = reprise.broadcast %124 dims [0, 1] {reprise.block = array<i64: 3>, reprise.primal} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %126 = reprise.mul %120, %125 {reprise.block = array<i64: 3>, reprise.primal} : tensor<8x32x64xf32>
    %127 = reprise.broadcast %arg37 dims [2] {reprise.block = array<i64: 3>, reprise.primal} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %128 = reprise.mul %126, %127 {reprise.block = array<i64: 3>, reprise.primal} : tensor<8x32x64xf32>
    %129 = reprise.broadcast %arg38 dims [2] {reprise.block = array<i64: 3>, reprise.primal} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %130 = reprise.add %128, %129 {reprise.block = array<i64: 3>, reprise.primal} : tensor<8x32x64xf32>
    %131 = reprise.dot_general %130, %arg39 contracting [2] x [0] {reprise.block = array<i64: 3>, reprise.primal} : (tensor<8x32x64xf32>, tensor<64x1x64xf32>) -> tensor<8x32x1x64xf32>
    %132 = reprise.broadcast %arg40 dims [2, 3] {reprise.block = array<i64: 3>, reprise.primal} : (tensor<1x64xf32>) -> tensor<8x32x1x64xf32>
    %133 = reprise.add %131, %132 {reprise.block = array<i64: 3>, reprise.primal} : tensor<8x32x1x64xf32>
    %134 = reprise.transpose %133 [0, 2, 1, 3] {reprise.block = array<i64: 3>, reprise.primal} : (tensor<8x32x1x64xf32>) -> tensor<8x1x32x64xf32>
    %135 = reprise.dot_general %130, %arg41 contracting [2] x [0] {reprise.block = array<i64: 3>, reprise.primal} : (tensor<8x32x64xf32>, tensor<64x1x64xf32>) -> tensor<8x32x1x64xf32>
    %136 = reprise.broadcast %arg42 dims [2, 3] {reprise.block = array<i64: 3>, reprise.primal} : (tensor<1x64xf32>) -> tensor<8x32x1x64xf32>
    %137 = reprise.add %135, %136 {reprise.block = array<i64: 3>, reprise.primal} : tensor<8x32x1x64xf32>
    %138 = reprise.transpose %137 [0, 2, 1, 3] {reprise.block = array<i64: 3>, reprise.primal} : (tensor<8x32x1x64xf32>) -> tensor<8x1x32x64xf32>
    %139 = reprise.dot_general %130, %arg43 contracting [2] x [0] {reprise.block = array<i64: 3>, reprise.primal} : (tensor<8x32x64xf32>, tensor<64x1x64xf32>) -> tensor<8x32x1x64xf32>
    %140 = reprise.broadcast %arg44 dims [2, 3] {reprise.block = array<i64: 3>, reprise.primal} : (tensor<1x64xf32>) -> tensor<8x32x1x64xf32>
    %141 = reprise.add %139, %140 {reprise.block = array<i64: 3>, reprise.primal} : tensor<8x32x1x64xf32>
    %142 = reprise.transpose %141 [0, 2, 1, 3] {reprise.block = array<i64: 3>, reprise.primal} : (tensor<8x32x1x64xf32>) -> tensor<8x1x32x64xf32>
    %out_2, %lse_3 = reprise.attention %134, %138, %142 seed %arg71 offset %arg72 {causal, global_shape = array<i64: 8, 1, 32, 32>, rate = 1.000000e-01 : f64, reprise.block = array<i64: 3>, reprise.primal, scale = 1.250000e-01 : f64, stream = 7 : i64} : (tensor<8x1x32x64xf32>, tensor<8x1x32x64xf32>, tensor<8x1x32x64xf32>) -> (tensor<8x1x32x64xf32>, tensor<8x1x32xf32>)
    %143 = reprise.dot_general %out_2, %arg45 contracting [1, 3] x [0, 1] {reprise.block = array<i64: 3>, reprise.primal} : (tensor<8x1x32x64xf32>, tensor<1x64x64xf32>) -> tensor<8x32x64xf32>
    %144 = reprise.broadcast %arg46 dims [2] {reprise.block = array<i64: 3>, reprise.primal} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %145 = reprise.add %143, %144 {reprise.block = array<i64: 3>, reprise.primal} : tensor<8x32x64xf32>
    %146 = reprise.dropout %145 seed %arg71 offset %arg72 {global_shape = array<i64: 8, 32, 64>, rate = 1.000000e-01 : f64, reprise.block = array<i64: 3>, reprise.primal, stream = 8 : i64} : tensor<8x32x64xf32>
    %147 = reprise.add %117, %146 {reprise.block = array<i64: 3>, reprise.names = ["residual"], reprise.primal} : tensor<8x32x64xf32>
    %148 = reprise.mean %147 dims [2] {reprise.block = array<i64: 3>, reprise.primal} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %149 = reprise.broadcast %148 dims [0, 1] {reprise.block = array<i64: 3>, reprise.primal} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %150 = reprise.sub %147, %149 {reprise.block = array<i64: 3>, reprise.primal} : tensor<8x32x64xf32>
    %151 = reprise.mul %150, %150 {reprise.block = array<i64: 3>, reprise.primal} : tensor<8x32x64xf32>
    %152 = reprise.mean %151 dims [2] {reprise.block = array<i64: 3>, reprise.primal} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %153 = reprise.add %152, %8 {reprise.block = array<i64: 3>, reprise.primal} : tensor<8x32xf32>
    %154 = reprise.rsqrt %153 {reprise.block = array<i64: 3>, reprise.primal} : tensor<8x32xf32>
    %155 = reprise.broadcast %154 dims [0, 1] {reprise.block = array<i64: 3>, reprise.primal} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %156 = reprise.mul %150, %155 {reprise.block = array<i64: 3>, reprise.primal} : tensor<8x32x64xf32>
    %157 = reprise.broadcast %arg47 dims [2] {reprise.block = array<i64: 3>, reprise.primal} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %158 = reprise.mul %156, %157 {reprise.block = array<i64: 3>, reprise.primal} : tensor<8x32x64xf32>
    %159 = reprise.broadcast %arg48 dims [2] {reprise.block = array<i64: 3>, reprise.primal} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %160 = reprise.add %158, %159 {reprise.block = array<i64: 3>, reprise.primal} : tensor<8x32x64xf32>
    %161 = reprise.dot_general %160, %arg49 contracting [2] x [0] {reprise.block = array<i64: 3>, reprise.primal} : (tensor<8x32x64xf32>, tensor<64x256xf32>) -> tensor<8x32x256xf32>
    %162 = reprise.broadcast %arg50 dims [2] {reprise.block = array<i64: 3>, reprise.primal} : (tensor<256xf32>) -> tensor<8x32x256xf32>
    %163 = reprise.add %161, %162 {reprise.block = array<i64: 3>, reprise.primal} : tensor<8x32x256xf32>
    %164 = reprise.gelu %163 {form = #reprise<gelu_form tanh>, reprise.block = array<i64: 3>, reprise.primal} : tensor<8x32x256xf32>
    %165 = reprise.dot_general %164, %arg51 contracting [2] x [0] {reprise.block = array<i64: 3>, reprise.primal} : (tensor<8x32x256xf32>, tensor<256x64xf32>) -> tensor<8x32x64xf32>
    %166 = reprise.broadcast %arg52 dims [2] {reprise.block = array<i64: 3>, reprise.primal} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %167 = reprise.add %165, %166 {reprise.block = array<i64: 3>, reprise.primal} : tensor<8x32x64xf32>
    %168 = reprise.dropout %167 seed %arg71 offset %arg72 {global_shape = array<i64: 8, 32, 64>, rate = 1.000000e-01 : f64, reprise.block = array<i64: 3>, reprise.primal, stream = 9 : i64} : tensor<8x32x64xf32>
    %169 = reprise.add %147, %168 {reprise.block = array<i64: 3>, reprise.names = ["residual"], reprise.primal} : tensor<8x32x64xf32>
    %170 = reprise.mean %169 dims [2] {reprise.block = array<i64: 4>, reprise.primal} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %171 = reprise.broadcast %170 dims [0, 1] {reprise.block = array<i64: 4>, reprise.primal} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %172 = reprise.sub %169, %171 {reprise.block = array<i64: 4>, reprise.primal} : tensor<8x32x64xf32>
    %173 = reprise.mul %172, %172 {reprise.block = array<i64: 4>, reprise.primal} : tensor<8x32x64xf32>
    %174 = reprise.mean %173 dims [2] {reprise.block = array<i64: 4>, reprise.primal} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %175 = reprise.add %174, %8 {reprise.block = array<i64: 4>, reprise.primal} : tensor<8x32xf32>
    %176 = reprise.rsqrt %175 {reprise.block = array<i64: 4>, reprise.primal} : tensor<8x32xf32>
    %177 = reprise.broadcast %176 dims [0, 1] {reprise.block = array<i64: 4>, reprise.primal} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %178 = reprise.mul %172, %177 {reprise.block = array<i64: 4>, reprise.primal} : tensor<8x32x64xf32>
    %179 = reprise.broadcast %arg53 dims [2] {reprise.block = array<i64: 4>, reprise.primal} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %180 = reprise.mul %178, %179 {reprise.block = array<i64: 4>, reprise.primal} : tensor<8x32x64xf32>
    %181 = reprise.broadcast %arg54 dims [2] {reprise.block = array<i64: 4>, reprise.primal} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %182 = reprise.add %180, %181 {reprise.block = array<i64: 4>, reprise.primal} : tensor<8x32x64xf32>
    %183 = reprise.dot_general %182, %arg55 contracting [2] x [0] {reprise.block = array<i64: 4>, reprise.primal} : (tensor<8x32x64xf32>, tensor<64x1x64xf32>) -> tensor<8x32x1x64xf32>
    %184 = reprise.broadcast %arg56 dims [2, 3] {reprise.block = array<i64: 4>, reprise.primal} : (tensor<1x64xf32>) -> tensor<8x32x1x64xf32>
    %185 = reprise.add %183, %184 {reprise.block = array<i64: 4>, reprise.primal} : tensor<8x32x1x64xf32>
    %186 = reprise.transpose %185 [0, 2, 1, 3] {reprise.block = array<i64: 4>, reprise.primal} : (tensor<8x32x1x64xf32>) -> tensor<8x1x32x64xf32>
    %187 = reprise.dot_general %182, %arg57 contracting [2] x [0] {reprise.block = array<i64: 4>, reprise.primal} : (tensor<8x32x64xf32>, tensor<64x1x64xf32>) -> tensor<8x32x1x64xf32>
    %188 = reprise.broadcast %arg58 dims [2, 3] {reprise.block = array<i64: 4>, reprise.primal} : (tensor<1x64xf32>) -> tensor<8x32x1x64xf32>
    %189 = reprise.add %187, %188 {reprise.block = array<i64: 4>, reprise.primal} : tensor<8x32x1x64xf32>
    %190 = reprise.transpose %189 [0, 2, 1, 3] {reprise.block = array<i64: 4>, reprise.primal} : (tensor<8x32x1x64xf32>) -> tensor<8x1x32x64xf32>
    %191 = reprise.dot_general %182, %arg59 contracting [2] x [0] {reprise.block = array<i64: 4>, reprise.primal} : (tensor<8x32x64xf32>, tensor<64x1x64xf32>) -> tensor<8x32x1x64xf32>
    %192 = reprise.broadcast %arg60 dims [2, 3] {reprise.block = array<i64: 4>, reprise.primal} : (tensor<1x64xf32>) -> tensor<8x32x1x64xf32>
    %193 = reprise.add %191, %192 {reprise.block = array<i64: 4>, reprise.primal} : tensor<8x32x1x64xf32>
    %194 = reprise.transpose %193 [0, 2, 1, 3] {reprise.block = array<i64: 4>, reprise.primal} : (tensor<8x32x1x64xf32>) -> tensor<8x1x32x64xf32>
    %out_4, %lse_5 = reprise.attention %186, %190, %194 seed %arg71 offset %arg72 {causal, global_shape = array<i64: 8, 1, 32, 32>, rate = 1.000000e-01 : f64, reprise.block = array<i64: 4>, reprise.primal, scale = 1.250000e-01 : f64, stream = 10 : i64} : (tensor<8x1x32x64xf32>, tensor<8x1x32x64xf32>, tensor<8x1x32x64xf32>) -> (tensor<8x1x32x64xf32>, tensor<8x1x32xf32>)
    %195 = reprise.dot_general %out_4, %arg61 contracting [1, 3] x [0, 1] {reprise.block = array<i64: 4>, reprise.primal} : (tensor<8x1x32x64xf32>, tensor<1x64x64xf32>) -> tensor<8x32x64xf32>
    %196 = reprise.broadcast %arg62 dims [2] {reprise.block = array<i64: 4>, reprise.primal} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %197 = reprise.add %195, %196 {reprise.block = array<i64: 4>, reprise.primal} : tensor<8x32x64xf32>
    %198 = reprise.dropout %197 seed %arg71 offset %arg72 {global_shape = array<i64: 8, 32, 64>, rate = 1.000000e-01 : f64, reprise.block = array<i64: 4>, reprise.primal, stream = 11 : i64} : tensor<8x32x64xf32>
    %199 = reprise.add %169, %198 {reprise.block = array<i64: 4>, reprise.names = ["residual"], reprise.primal} : tensor<8x32x64xf32>
    %200 = reprise.mean %199 dims [2] {reprise.block = array<i64: 4>, reprise.primal} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %201 = reprise.broadcast %200 dims [0, 1] {reprise.block = array<i64: 4>, reprise.primal} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %202 = reprise.sub %199, %201 {reprise.block = array<i64: 4>, reprise.primal} : tensor<8x32x64xf32>
    %203 = reprise.mul %202, %202 {reprise.block = array<i64: 4>, reprise.primal} : tensor<8x32x64xf32>
    %204 = reprise.mean %203 dims [2] {reprise.block = array<i64: 4>, reprise.primal} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %205 = reprise.add %204, %8 {reprise.block = array<i64: 4>, reprise.primal} : tensor<8x32xf32>
    %206 = reprise.rsqrt %205 {reprise.block = array<i64: 4>, reprise.primal} : tensor<8x32xf32>
    %207 = reprise.broadcast %206 dims [0, 1] {reprise.block = array<i64: 4>, reprise.primal} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %208 = reprise.mul %202, %207 {reprise.block = array<i64: 4>, reprise.primal} : tensor<8x32x64xf32>
    %209 = reprise.broadcast %arg63 dims [2] {reprise.block = array<i64: 4>, reprise.primal} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %210 = reprise.mul %208, %209 {reprise.block = array<i64: 4>, reprise.primal} : tensor<8x32x64xf32>
    %211 = reprise.broadcast %arg64 dims [2] {reprise.block = array<i64: 4>, reprise.primal} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %212 = reprise.add %210, %211 {reprise.block = array<i64: 4>, reprise.primal} : tensor<8x32x64xf32>
    %213 = reprise.dot_general %212, %arg65 contracting [2] x [0] {reprise.block = array<i64: 4>, reprise.primal} : (tensor<8x32x64xf32>, tensor<64x256xf32>) -> tensor<8x32x256xf32>
    %214 = reprise.broadcast %arg66 dims [2] {reprise.block = array<i64: 4>, reprise.primal} : (tensor<256xf32>) -> tensor<8x32x256xf32>
    %215 = reprise.add %213, %214 {reprise.block = array<i64: 4>, reprise.primal} : tensor<8x32x256xf32>
    %216 = reprise.gelu %215 {form = #reprise<gelu_form tanh>, reprise.block = array<i64: 4>, reprise.primal} : tensor<8x32x256xf32>
    %217 = reprise.dot_general %216, %arg67 contracting [2] x [0] {reprise.block = array<i64: 4>, reprise.primal} : (tensor<8x32x256xf32>, tensor<256x64xf32>) -> tensor<8x32x64xf32>
    %218 = reprise.broadcast %arg68 dims [2] {reprise.block = array<i64: 4>, reprise.primal} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %219 = reprise.add %217, %218 {reprise.block = array<i64: 4>, reprise.primal} : tensor<8x32x64xf32>
    %220 = reprise.dropout %219 seed %arg71 offset %arg72 {global_shape = array<i64: 8, 32, 64>, rate = 1.000000e-01 : f64, reprise.block = array<i64: 4>, reprise.primal, stream = 12 : i64} : tensor<8x32x64xf32>
    %221 = reprise.add %199, %220 {reprise.block = array<i64: 4>, reprise.names = ["residual"], reprise.primal} : tensor<8x32x64xf32>
    %222 = reprise.mean %221 dims [2] {reprise.block = array<i64: 5>, reprise.primal} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %223 = reprise.broadcast %222 dims [0, 1] {reprise.block = array<i64: 5>, reprise.primal} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %224 = reprise.sub %221, %223 {reprise.block = array<i64: 5>, reprise.primal} : tensor<8x32x64xf32>
    %225 = reprise.mul %224, %224 {reprise.block = array<i64: 5>, reprise.primal} : tensor<8x32x64xf32>
    %226 = reprise.mean %225 dims [2] {reprise.block = array<i64: 5>, reprise.primal} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %227 = reprise.add %226, %8 {reprise.block = array<i64: 5>, reprise.primal} : tensor<8x32xf32>
    %228 = reprise.rsqrt %227 {reprise.block = array<i64: 5>, reprise.primal} : tensor<8x32xf32>
    %229 = reprise.broadcast %228 dims [0, 1] {reprise.block = array<i64: 5>, reprise.primal} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %230 = reprise.mul %224, %229 {reprise.block = array<i64: 5>, reprise.primal} : tensor<8x32x64xf32>
    %231 = reprise.broadcast %arg69 dims [2] {reprise.block = array<i64: 5>, reprise.primal} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %232 = reprise.mul %230, %231 {reprise.block = array<i64: 5>, reprise.primal} : tensor<8x32x64xf32>
    %233 = reprise.broadcast %arg70 dims [2] {reprise.block = array<i64: 5>, reprise.primal} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %234 = reprise.add %232, %233 {reprise.block = array<i64: 5>, reprise.primal} : tensor<8x32x64xf32>
    %235 = reprise.dot_general %234, %arg3 contracting [2] x [1] {reprise.block = array<i64: 5>, reprise.primal} : (tensor<8x32x64xf32>, tensor<256x64xf32>) -> tensor<8x32x256xf32>
    %236 = reprise.cross_entropy %235, %arg1 {reprise.block = array<i64: 5>, reprise.primal} : (tensor<8x32x256xf32>, tensor<8x32xi32>) -> tensor<8x32xf32>
    %237 = reprise.mean %236 dims [0, 1] {reprise.block = array<i64: 5>, reprise.primal} : (tensor<8x32xf32>) -> tensor<f32>
    %238 = reprise.maximum %arg1, %7 {reprise.block = array<i64: 5>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32xi32>
    %239 = reprise.minimum %238, %6 {reprise.block = array<i64: 5>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32xi32>
    %240 = reprise.iota dim 2 {reprise.block = array<i64: 5>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xi32>
    %241 = reprise.broadcast %239 dims [0, 1] {reprise.block = array<i64: 5>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xi32>) -> tensor<8x32x256xi32>
    %242 = reprise.compare  eq %240, %241 {reprise.block = array<i64: 5>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xi32>
    %243 = reprise.softmax %235 {reprise.block = array<i64: 5>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %244 = reprise.cast %242 {reprise.block = array<i64: 5>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xi1> to tensor<8x32x256xf32>
    %245 = reprise.sub %243, %244 {reprise.block = array<i64: 5>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %246 = reprise.mul %245, %0 {reprise.block = array<i64: 5>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %247 = reprise.dot_general %246, %arg3 contracting [2] x [0] {reprise.block = array<i64: 5>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x256xf32>, tensor<256x64xf32>) -> tensor<8x32x64xf32>
    %248 = reprise.dot_general %246, %234 contracting [0, 1] x [0, 1] {reprise.block = array<i64: 5>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x256xf32>, tensor<8x32x64xf32>) -> tensor<256x64xf32>
    %249 = reprise.broadcast %228 dims [0, 1] {reprise.block = array<i64: 5>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %250 = reprise.broadcast %222 dims [0, 1] {reprise.block = array<i64: 5>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %251 = reprise.sub %221, %250 {reprise.block = array<i64: 5>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %252 = reprise.mul %251, %249 {reprise.block = array<i64: 5>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %253 = reprise.mul %247, %252 {reprise.block = array<i64: 5>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %254 = reprise.sum %253 dims [0, 1] {reprise.block = array<i64: 5>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<64xf32>
    %255 = reprise.sum %247 dims [0, 1] {reprise.block = array<i64: 5>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<64xf32>
    %256 = reprise.broadcast %arg69 dims [2] {reprise.block = array<i64: 5>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %257 = reprise.mul %247, %256 {reprise.block = array<i64: 5>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %258 = reprise.mul %257, %252 {reprise.block = array<i64: 5>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %259 = reprise.mean %258 dims [2] {reprise.block = array<i64: 5>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %260 = reprise.broadcast %259 dims [0, 1] {reprise.block = array<i64: 5>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %261 = reprise.mul %252, %260 {reprise.block = array<i64: 5>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %262 = reprise.mean %257 dims [2] {reprise.block = array<i64: 5>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %263 = reprise.broadcast %262 dims [0, 1] {reprise.block = array<i64: 5>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %264 = reprise.sub %257, %263 {reprise.block = array<i64: 5>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %265 = reprise.sub %264, %261 {reprise.block = array<i64: 5>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %266 = reprise.mul %249, %265 {reprise.block = array<i64: 5>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %267 = reprise.dropout %266 seed %arg71 offset %arg72 {global_shape = array<i64: 8, 32, 64>, rate = 1.000000e-01 : f64, reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64, stream = 12 : i64} : tensor<8x32x64xf32>
    %268 = reprise.sum %267 dims [0, 1] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<64xf32>
    %269 = reprise.dot_general %267, %arg67 contracting [2] x [1] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>, tensor<256x64xf32>) -> tensor<8x32x256xf32>
    %270 = reprise.dot_general %216, %267 contracting [0, 1] x [0, 1] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x256xf32>, tensor<8x32x64xf32>) -> tensor<256x64xf32>
    %271 = reprise.mul %215, %215 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %272 = reprise.mul %271, %215 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %273 = reprise.mul %272, %4 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %274 = reprise.add %215, %273 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %275 = reprise.mul %274, %3 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %276 = reprise.tanh %275 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %277 = reprise.mul %271, %2 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %278 = reprise.add %277, %5 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %279 = reprise.mul %278, %3 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %280 = reprise.mul %215, %1 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %281 = reprise.mul %276, %276 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %282 = reprise.sub %5, %281 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %283 = reprise.mul %280, %282 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %284 = reprise.mul %283, %279 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %285 = reprise.add %276, %5 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %286 = reprise.mul %285, %1 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %287 = reprise.add %286, %284 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %288 = reprise.mul %269, %287 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %289 = reprise.sum %288 dims [0, 1] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x256xf32>) -> tensor<256xf32>
    %290 = reprise.dot_general %288, %arg65 contracting [2] x [1] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x256xf32>, tensor<64x256xf32>) -> tensor<8x32x64xf32>
    %291 = reprise.dot_general %212, %288 contracting [0, 1] x [0, 1] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>, tensor<8x32x256xf32>) -> tensor<64x256xf32>
    %292 = reprise.broadcast %206 dims [0, 1] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %293 = reprise.broadcast %200 dims [0, 1] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %294 = reprise.sub %199, %293 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %295 = reprise.mul %294, %292 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %296 = reprise.mul %290, %295 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %297 = reprise.sum %296 dims [0, 1] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<64xf32>
    %298 = reprise.sum %290 dims [0, 1] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<64xf32>
    %299 = reprise.broadcast %arg63 dims [2] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %300 = reprise.mul %290, %299 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %301 = reprise.mul %300, %295 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %302 = reprise.mean %301 dims [2] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %303 = reprise.broadcast %302 dims [0, 1] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %304 = reprise.mul %295, %303 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %305 = reprise.mean %300 dims [2] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %306 = reprise.broadcast %305 dims [0, 1] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %307 = reprise.sub %300, %306 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %308 = reprise.sub %307, %304 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %309 = reprise.mul %292, %308 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %310 = reprise.add %266, %309 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %311 = reprise.dropout %310 seed %arg71 offset %arg72 {global_shape = array<i64: 8, 32, 64>, rate = 1.000000e-01 : f64, reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64, stream = 11 : i64} : tensor<8x32x64xf32>
    %312 = reprise.sum %311 dims [0, 1] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<64xf32>
    %313 = reprise.dot_general %311, %arg61 contracting [2] x [2] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>, tensor<1x64x64xf32>) -> tensor<8x32x1x64xf32>
    %314 = reprise.transpose %313 [0, 2, 1, 3] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x1x64xf32>) -> tensor<8x1x32x64xf32>
    %315 = reprise.dot_general %out_4, %311 contracting [0, 2] x [0, 1] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x1x32x64xf32>, tensor<8x32x64xf32>) -> tensor<1x64x64xf32>
    %dquery, %dkey, %dvalue = reprise.attention_backward %186, %190, %194, %out_4, %lse_5, %314 seed %arg71 offset %arg72 {causal, global_shape = array<i64: 8, 1, 32, 32>, rate = 1.000000e-01 : f64, reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64, scale = 1.250000e-01 : f64, stream = 10 : i64} : (tensor<8x1x32x64xf32>, tensor<8x1x32x64xf32>, tensor<8x1x32x64xf32>, tensor<8x1x32x64xf32>, tensor<8x1x32xf32>, tensor<8x1x32x64xf32>) -> (tensor<8x1x32x64xf32>, tensor<8x1x32x64xf32>, tensor<8x1x32x64xf32>)
    %316 = reprise.transpose %dvalue [0, 2, 1, 3] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x1x32x64xf32>) -> tensor<8x32x1x64xf32>
    %317 = reprise.sum %316 dims [0, 1] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x1x64xf32>) -> tensor<1x64xf32>
    %318 = reprise.dot_general %dvalue, %arg59 contracting [1, 3] x [1, 2] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x1x32x64xf32>, tensor<64x1x64xf32>) -> tensor<8x32x64xf32>
    %319 = reprise.dot_general %182, %dvalue contracting [0, 1] x [0, 2] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>, tensor<8x1x32x64xf32>) -> tensor<64x1x64xf32>
    %320 = reprise.transpose %dkey [0, 2, 1, 3] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x1x32x64xf32>) -> tensor<8x32x1x64xf32>
    %321 = reprise.sum %320 dims [0, 1] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x1x64xf32>) -> tensor<1x64xf32>
    %322 = reprise.dot_general %dkey, %arg57 contracting [1, 3] x [1, 2] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x1x32x64xf32>, tensor<64x1x64xf32>) -> tensor<8x32x64xf32>
    %323 = reprise.dot_general %182, %dkey contracting [0, 1] x [0, 2] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>, tensor<8x1x32x64xf32>) -> tensor<64x1x64xf32>
    %324 = reprise.add %318, %322 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %325 = reprise.transpose %dquery [0, 2, 1, 3] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x1x32x64xf32>) -> tensor<8x32x1x64xf32>
    %326 = reprise.sum %325 dims [0, 1] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x1x64xf32>) -> tensor<1x64xf32>
    %327 = reprise.dot_general %dquery, %arg55 contracting [1, 3] x [1, 2] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x1x32x64xf32>, tensor<64x1x64xf32>) -> tensor<8x32x64xf32>
    %328 = reprise.dot_general %182, %dquery contracting [0, 1] x [0, 2] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>, tensor<8x1x32x64xf32>) -> tensor<64x1x64xf32>
    %329 = reprise.add %324, %327 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %330 = reprise.broadcast %176 dims [0, 1] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %331 = reprise.broadcast %170 dims [0, 1] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %332 = reprise.sub %169, %331 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %333 = reprise.mul %332, %330 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %334 = reprise.mul %329, %333 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %335 = reprise.sum %334 dims [0, 1] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<64xf32>
    %336 = reprise.sum %329 dims [0, 1] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<64xf32>
    %337 = reprise.broadcast %arg53 dims [2] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %338 = reprise.mul %329, %337 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %339 = reprise.mul %338, %333 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %340 = reprise.mean %339 dims [2] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %341 = reprise.broadcast %340 dims [0, 1] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %342 = reprise.mul %333, %341 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %343 = reprise.mean %338 dims [2] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %344 = reprise.broadcast %343 dims [0, 1] {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %345 = reprise.sub %338, %344 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %346 = reprise.sub %345, %342 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %347 = reprise.mul %330, %346 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %348 = reprise.add %310, %347 {reprise.block = array<i64: 4>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %349 = reprise.dropout %348 seed %arg71 offset %arg72 {global_shape = array<i64: 8, 32, 64>, rate = 1.000000e-01 : f64, reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64, stream = 9 : i64} : tensor<8x32x64xf32>
    %350 = reprise.sum %349 dims [0, 1] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<64xf32>
    %351 = reprise.dot_general %349, %arg51 contracting [2] x [1] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>, tensor<256x64xf32>) -> tensor<8x32x256xf32>
    %352 = reprise.dot_general %164, %349 contracting [0, 1] x [0, 1] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x256xf32>, tensor<8x32x64xf32>) -> tensor<256x64xf32>
    %353 = reprise.mul %163, %163 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %354 = reprise.mul %353, %163 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %355 = reprise.mul %354, %4 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %356 = reprise.add %163, %355 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %357 = reprise.mul %356, %3 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %358 = reprise.tanh %357 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %359 = reprise.mul %353, %2 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %360 = reprise.add %359, %5 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %361 = reprise.mul %360, %3 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %362 = reprise.mul %163, %1 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %363 = reprise.mul %358, %358 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %364 = reprise.sub %5, %363 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %365 = reprise.mul %362, %364 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %366 = reprise.mul %365, %361 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %367 = reprise.add %358, %5 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %368 = reprise.mul %367, %1 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %369 = reprise.add %368, %366 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %370 = reprise.mul %351, %369 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %371 = reprise.sum %370 dims [0, 1] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x256xf32>) -> tensor<256xf32>
    %372 = reprise.dot_general %370, %arg49 contracting [2] x [1] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x256xf32>, tensor<64x256xf32>) -> tensor<8x32x64xf32>
    %373 = reprise.dot_general %160, %370 contracting [0, 1] x [0, 1] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>, tensor<8x32x256xf32>) -> tensor<64x256xf32>
    %374 = reprise.broadcast %154 dims [0, 1] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %375 = reprise.broadcast %148 dims [0, 1] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %376 = reprise.sub %147, %375 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %377 = reprise.mul %376, %374 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %378 = reprise.mul %372, %377 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %379 = reprise.sum %378 dims [0, 1] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<64xf32>
    %380 = reprise.sum %372 dims [0, 1] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<64xf32>
    %381 = reprise.broadcast %arg47 dims [2] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %382 = reprise.mul %372, %381 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %383 = reprise.mul %382, %377 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %384 = reprise.mean %383 dims [2] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %385 = reprise.broadcast %384 dims [0, 1] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %386 = reprise.mul %377, %385 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %387 = reprise.mean %382 dims [2] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %388 = reprise.broadcast %387 dims [0, 1] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %389 = reprise.sub %382, %388 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %390 = reprise.sub %389, %386 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %391 = reprise.mul %374, %390 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %392 = reprise.add %348, %391 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %393 = reprise.dropout %392 seed %arg71 offset %arg72 {global_shape = array<i64: 8, 32, 64>, rate = 1.000000e-01 : f64, reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64, stream = 8 : i64} : tensor<8x32x64xf32>
    %394 = reprise.sum %393 dims [0, 1] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<64xf32>
    %395 = reprise.dot_general %393, %arg45 contracting [2] x [2] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>, tensor<1x64x64xf32>) -> tensor<8x32x1x64xf32>
    %396 = reprise.transpose %395 [0, 2, 1, 3] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x1x64xf32>) -> tensor<8x1x32x64xf32>
    %397 = reprise.dot_general %out_2, %393 contracting [0, 2] x [0, 1] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x1x32x64xf32>, tensor<8x32x64xf32>) -> tensor<1x64x64xf32>
    %dquery_6, %dkey_7, %dvalue_8 = reprise.attention_backward %134, %138, %142, %out_2, %lse_3, %396 seed %arg71 offset %arg72 {causal, global_shape = array<i64: 8, 1, 32, 32>, rate = 1.000000e-01 : f64, reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64, scale = 1.250000e-01 : f64, stream = 7 : i64} : (tensor<8x1x32x64xf32>, tensor<8x1x32x64xf32>, tensor<8x1x32x64xf32>, tensor<8x1x32x64xf32>, tensor<8x1x32xf32>, tensor<8x1x32x64xf32>) -> (tensor<8x1x32x64xf32>, tensor<8x1x32x64xf32>, tensor<8x1x32x64xf32>)
    %398 = reprise.transpose %dvalue_8 [0, 2, 1, 3] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x1x32x64xf32>) -> tensor<8x32x1x64xf32>
    %399 = reprise.sum %398 dims [0, 1] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x1x64xf32>) -> tensor<1x64xf32>
    %400 = reprise.dot_general %dvalue_8, %arg43 contracting [1, 3] x [1, 2] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x1x32x64xf32>, tensor<64x1x64xf32>) -> tensor<8x32x64xf32>
    %401 = reprise.dot_general %130, %dvalue_8 contracting [0, 1] x [0, 2] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>, tensor<8x1x32x64xf32>) -> tensor<64x1x64xf32>
    %402 = reprise.transpose %dkey_7 [0, 2, 1, 3] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x1x32x64xf32>) -> tensor<8x32x1x64xf32>
    %403 = reprise.sum %402 dims [0, 1] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x1x64xf32>) -> tensor<1x64xf32>
    %404 = reprise.dot_general %dkey_7, %arg41 contracting [1, 3] x [1, 2] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x1x32x64xf32>, tensor<64x1x64xf32>) -> tensor<8x32x64xf32>
    %405 = reprise.dot_general %130, %dkey_7 contracting [0, 1] x [0, 2] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>, tensor<8x1x32x64xf32>) -> tensor<64x1x64xf32>
    %406 = reprise.add %400, %404 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %407 = reprise.transpose %dquery_6 [0, 2, 1, 3] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x1x32x64xf32>) -> tensor<8x32x1x64xf32>
    %408 = reprise.sum %407 dims [0, 1] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x1x64xf32>) -> tensor<1x64xf32>
    %409 = reprise.dot_general %dquery_6, %arg39 contracting [1, 3] x [1, 2] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x1x32x64xf32>, tensor<64x1x64xf32>) -> tensor<8x32x64xf32>
    %410 = reprise.dot_general %130, %dquery_6 contracting [0, 1] x [0, 2] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>, tensor<8x1x32x64xf32>) -> tensor<64x1x64xf32>
    %411 = reprise.add %406, %409 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %412 = reprise.broadcast %124 dims [0, 1] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %413 = reprise.broadcast %118 dims [0, 1] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %414 = reprise.sub %117, %413 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %415 = reprise.mul %414, %412 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %416 = reprise.mul %411, %415 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %417 = reprise.sum %416 dims [0, 1] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<64xf32>
    %418 = reprise.sum %411 dims [0, 1] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<64xf32>
    %419 = reprise.broadcast %arg37 dims [2] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %420 = reprise.mul %411, %419 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %421 = reprise.mul %420, %415 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %422 = reprise.mean %421 dims [2] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %423 = reprise.broadcast %422 dims [0, 1] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %424 = reprise.mul %415, %423 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %425 = reprise.mean %420 dims [2] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %426 = reprise.broadcast %425 dims [0, 1] {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %427 = reprise.sub %420, %426 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %428 = reprise.sub %427, %424 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %429 = reprise.mul %412, %428 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %430 = reprise.add %392, %429 {reprise.block = array<i64: 3>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %431 = reprise.dropout %430 seed %arg71 offset %arg72 {global_shape = array<i64: 8, 32, 64>, rate = 1.000000e-01 : f64, reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64, stream = 6 : i64} : tensor<8x32x64xf32>
    %432 = reprise.sum %431 dims [0, 1] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<64xf32>
    %433 = reprise.dot_general %431, %arg35 contracting [2] x [1] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>, tensor<256x64xf32>) -> tensor<8x32x256xf32>
    %434 = reprise.dot_general %112, %431 contracting [0, 1] x [0, 1] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x256xf32>, tensor<8x32x64xf32>) -> tensor<256x64xf32>
    %435 = reprise.mul %111, %111 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %436 = reprise.mul %435, %111 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %437 = reprise.mul %436, %4 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %438 = reprise.add %111, %437 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %439 = reprise.mul %438, %3 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %440 = reprise.tanh %439 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %441 = reprise.mul %435, %2 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %442 = reprise.add %441, %5 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %443 = reprise.mul %442, %3 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %444 = reprise.mul %111, %1 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %445 = reprise.mul %440, %440 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %446 = reprise.sub %5, %445 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %447 = reprise.mul %444, %446 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %448 = reprise.mul %447, %443 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %449 = reprise.add %440, %5 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %450 = reprise.mul %449, %1 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %451 = reprise.add %450, %448 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %452 = reprise.mul %433, %451 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %453 = reprise.sum %452 dims [0, 1] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x256xf32>) -> tensor<256xf32>
    %454 = reprise.dot_general %452, %arg33 contracting [2] x [1] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x256xf32>, tensor<64x256xf32>) -> tensor<8x32x64xf32>
    %455 = reprise.dot_general %108, %452 contracting [0, 1] x [0, 1] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>, tensor<8x32x256xf32>) -> tensor<64x256xf32>
    %456 = reprise.broadcast %102 dims [0, 1] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %457 = reprise.broadcast %96 dims [0, 1] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %458 = reprise.sub %95, %457 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %459 = reprise.mul %458, %456 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %460 = reprise.mul %454, %459 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %461 = reprise.sum %460 dims [0, 1] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<64xf32>
    %462 = reprise.sum %454 dims [0, 1] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<64xf32>
    %463 = reprise.broadcast %arg31 dims [2] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %464 = reprise.mul %454, %463 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %465 = reprise.mul %464, %459 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %466 = reprise.mean %465 dims [2] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %467 = reprise.broadcast %466 dims [0, 1] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %468 = reprise.mul %459, %467 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %469 = reprise.mean %464 dims [2] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %470 = reprise.broadcast %469 dims [0, 1] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %471 = reprise.sub %464, %470 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %472 = reprise.sub %471, %468 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %473 = reprise.mul %456, %472 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %474 = reprise.add %430, %473 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %475 = reprise.dropout %474 seed %arg71 offset %arg72 {global_shape = array<i64: 8, 32, 64>, rate = 1.000000e-01 : f64, reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64, stream = 5 : i64} : tensor<8x32x64xf32>
    %476 = reprise.sum %475 dims [0, 1] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<64xf32>
    %477 = reprise.dot_general %475, %arg29 contracting [2] x [2] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>, tensor<1x64x64xf32>) -> tensor<8x32x1x64xf32>
    %478 = reprise.transpose %477 [0, 2, 1, 3] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x1x64xf32>) -> tensor<8x1x32x64xf32>
    %479 = reprise.dot_general %out_0, %475 contracting [0, 2] x [0, 1] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x1x32x64xf32>, tensor<8x32x64xf32>) -> tensor<1x64x64xf32>
    %dquery_9, %dkey_10, %dvalue_11 = reprise.attention_backward %82, %86, %90, %out_0, %lse_1, %478 seed %arg71 offset %arg72 {causal, global_shape = array<i64: 8, 1, 32, 32>, rate = 1.000000e-01 : f64, reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64, scale = 1.250000e-01 : f64, stream = 4 : i64} : (tensor<8x1x32x64xf32>, tensor<8x1x32x64xf32>, tensor<8x1x32x64xf32>, tensor<8x1x32x64xf32>, tensor<8x1x32xf32>, tensor<8x1x32x64xf32>) -> (tensor<8x1x32x64xf32>, tensor<8x1x32x64xf32>, tensor<8x1x32x64xf32>)
    %480 = reprise.transpose %dvalue_11 [0, 2, 1, 3] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x1x32x64xf32>) -> tensor<8x32x1x64xf32>
    %481 = reprise.sum %480 dims [0, 1] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x1x64xf32>) -> tensor<1x64xf32>
    %482 = reprise.dot_general %dvalue_11, %arg27 contracting [1, 3] x [1, 2] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x1x32x64xf32>, tensor<64x1x64xf32>) -> tensor<8x32x64xf32>
    %483 = reprise.dot_general %78, %dvalue_11 contracting [0, 1] x [0, 2] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>, tensor<8x1x32x64xf32>) -> tensor<64x1x64xf32>
    %484 = reprise.transpose %dkey_10 [0, 2, 1, 3] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x1x32x64xf32>) -> tensor<8x32x1x64xf32>
    %485 = reprise.sum %484 dims [0, 1] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x1x64xf32>) -> tensor<1x64xf32>
    %486 = reprise.dot_general %dkey_10, %arg25 contracting [1, 3] x [1, 2] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x1x32x64xf32>, tensor<64x1x64xf32>) -> tensor<8x32x64xf32>
    %487 = reprise.dot_general %78, %dkey_10 contracting [0, 1] x [0, 2] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>, tensor<8x1x32x64xf32>) -> tensor<64x1x64xf32>
    %488 = reprise.add %482, %486 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %489 = reprise.transpose %dquery_9 [0, 2, 1, 3] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x1x32x64xf32>) -> tensor<8x32x1x64xf32>
    %490 = reprise.sum %489 dims [0, 1] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x1x64xf32>) -> tensor<1x64xf32>
    %491 = reprise.dot_general %dquery_9, %arg23 contracting [1, 3] x [1, 2] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x1x32x64xf32>, tensor<64x1x64xf32>) -> tensor<8x32x64xf32>
    %492 = reprise.dot_general %78, %dquery_9 contracting [0, 1] x [0, 2] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>, tensor<8x1x32x64xf32>) -> tensor<64x1x64xf32>
    %493 = reprise.add %488, %491 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %494 = reprise.broadcast %72 dims [0, 1] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %495 = reprise.broadcast %66 dims [0, 1] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %496 = reprise.sub %65, %495 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %497 = reprise.mul %496, %494 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %498 = reprise.mul %493, %497 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %499 = reprise.sum %498 dims [0, 1] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<64xf32>
    %500 = reprise.sum %493 dims [0, 1] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<64xf32>
    %501 = reprise.broadcast %arg21 dims [2] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %502 = reprise.mul %493, %501 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %503 = reprise.mul %502, %497 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %504 = reprise.mean %503 dims [2] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %505 = reprise.broadcast %504 dims [0, 1] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %506 = reprise.mul %497, %505 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %507 = reprise.mean %502 dims [2] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %508 = reprise.broadcast %507 dims [0, 1] {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %509 = reprise.sub %502, %508 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %510 = reprise.sub %509, %506 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %511 = reprise.mul %494, %510 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %512 = reprise.add %474, %511 {reprise.block = array<i64: 2>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %513 = reprise.dropout %512 seed %arg71 offset %arg72 {global_shape = array<i64: 8, 32, 64>, rate = 1.000000e-01 : f64, reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64, stream = 3 : i64} : tensor<8x32x64xf32>
    %514 = reprise.sum %513 dims [0, 1] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<64xf32>
    %515 = reprise.dot_general %513, %arg19 contracting [2] x [1] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>, tensor<256x64xf32>) -> tensor<8x32x256xf32>
    %516 = reprise.dot_general %60, %513 contracting [0, 1] x [0, 1] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x256xf32>, tensor<8x32x64xf32>) -> tensor<256x64xf32>
    %517 = reprise.mul %59, %59 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %518 = reprise.mul %517, %59 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %519 = reprise.mul %518, %4 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %520 = reprise.add %59, %519 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %521 = reprise.mul %520, %3 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %522 = reprise.tanh %521 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %523 = reprise.mul %517, %2 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %524 = reprise.add %523, %5 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %525 = reprise.mul %524, %3 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %526 = reprise.mul %59, %1 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %527 = reprise.mul %522, %522 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %528 = reprise.sub %5, %527 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %529 = reprise.mul %526, %528 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %530 = reprise.mul %529, %525 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %531 = reprise.add %522, %5 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %532 = reprise.mul %531, %1 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %533 = reprise.add %532, %530 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %534 = reprise.mul %515, %533 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x256xf32>
    %535 = reprise.sum %534 dims [0, 1] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x256xf32>) -> tensor<256xf32>
    %536 = reprise.dot_general %534, %arg17 contracting [2] x [1] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x256xf32>, tensor<64x256xf32>) -> tensor<8x32x64xf32>
    %537 = reprise.dot_general %56, %534 contracting [0, 1] x [0, 1] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>, tensor<8x32x256xf32>) -> tensor<64x256xf32>
    %538 = reprise.broadcast %50 dims [0, 1] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %539 = reprise.broadcast %44 dims [0, 1] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %540 = reprise.sub %43, %539 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %541 = reprise.mul %540, %538 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %542 = reprise.mul %536, %541 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %543 = reprise.sum %542 dims [0, 1] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<64xf32>
    %544 = reprise.sum %536 dims [0, 1] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<64xf32>
    %545 = reprise.broadcast %arg15 dims [2] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %546 = reprise.mul %536, %545 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %547 = reprise.mul %546, %541 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %548 = reprise.mean %547 dims [2] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %549 = reprise.broadcast %548 dims [0, 1] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %550 = reprise.mul %541, %549 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %551 = reprise.mean %546 dims [2] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %552 = reprise.broadcast %551 dims [0, 1] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %553 = reprise.sub %546, %552 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %554 = reprise.sub %553, %550 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %555 = reprise.mul %538, %554 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %556 = reprise.add %512, %555 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %557 = reprise.dropout %556 seed %arg71 offset %arg72 {global_shape = array<i64: 8, 32, 64>, rate = 1.000000e-01 : f64, reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64, stream = 2 : i64} : tensor<8x32x64xf32>
    %558 = reprise.sum %557 dims [0, 1] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<64xf32>
    %559 = reprise.dot_general %557, %arg13 contracting [2] x [2] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>, tensor<1x64x64xf32>) -> tensor<8x32x1x64xf32>
    %560 = reprise.transpose %559 [0, 2, 1, 3] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x1x64xf32>) -> tensor<8x1x32x64xf32>
    %561 = reprise.dot_general %out, %557 contracting [0, 2] x [0, 1] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x1x32x64xf32>, tensor<8x32x64xf32>) -> tensor<1x64x64xf32>
    %dquery_12, %dkey_13, %dvalue_14 = reprise.attention_backward %30, %34, %38, %out, %lse, %560 seed %arg71 offset %arg72 {causal, global_shape = array<i64: 8, 1, 32, 32>, rate = 1.000000e-01 : f64, reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64, scale = 1.250000e-01 : f64, stream = 1 : i64} : (tensor<8x1x32x64xf32>, tensor<8x1x32x64xf32>, tensor<8x1x32x64xf32>, tensor<8x1x32x64xf32>, tensor<8x1x32xf32>, tensor<8x1x32x64xf32>) -> (tensor<8x1x32x64xf32>, tensor<8x1x32x64xf32>, tensor<8x1x32x64xf32>)
    %562 = reprise.transpose %dvalue_14 [0, 2, 1, 3] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x1x32x64xf32>) -> tensor<8x32x1x64xf32>
    %563 = reprise.sum %562 dims [0, 1] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x1x64xf32>) -> tensor<1x64xf32>
    %564 = reprise.dot_general %dvalue_14, %arg11 contracting [1, 3] x [1, 2] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x1x32x64xf32>, tensor<64x1x64xf32>) -> tensor<8x32x64xf32>
    %565 = reprise.dot_general %26, %dvalue_14 contracting [0, 1] x [0, 2] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>, tensor<8x1x32x64xf32>) -> tensor<64x1x64xf32>
    %566 = reprise.transpose %dkey_13 [0, 2, 1, 3] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x1x32x64xf32>) -> tensor<8x32x1x64xf32>
    %567 = reprise.sum %566 dims [0, 1] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x1x64xf32>) -> tensor<1x64xf32>
    %568 = reprise.dot_general %dkey_13, %arg9 contracting [1, 3] x [1, 2] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x1x32x64xf32>, tensor<64x1x64xf32>) -> tensor<8x32x64xf32>
    %569 = reprise.dot_general %26, %dkey_13 contracting [0, 1] x [0, 2] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>, tensor<8x1x32x64xf32>) -> tensor<64x1x64xf32>
    %570 = reprise.add %564, %568 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %571 = reprise.transpose %dquery_12 [0, 2, 1, 3] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x1x32x64xf32>) -> tensor<8x32x1x64xf32>
    %572 = reprise.sum %571 dims [0, 1] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x1x64xf32>) -> tensor<1x64xf32>
    %573 = reprise.dot_general %dquery_12, %arg7 contracting [1, 3] x [1, 2] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x1x32x64xf32>, tensor<64x1x64xf32>) -> tensor<8x32x64xf32>
    %574 = reprise.dot_general %26, %dquery_12 contracting [0, 1] x [0, 2] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>, tensor<8x1x32x64xf32>) -> tensor<64x1x64xf32>
    %575 = reprise.add %570, %573 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %576 = reprise.broadcast %20 dims [0, 1] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %577 = reprise.broadcast %14 dims [0, 1] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %578 = reprise.sub %13, %577 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %579 = reprise.mul %578, %576 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %580 = reprise.mul %575, %579 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %581 = reprise.sum %580 dims [0, 1] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<64xf32>
    %582 = reprise.sum %575 dims [0, 1] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<64xf32>
    %583 = reprise.broadcast %arg5 dims [2] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %584 = reprise.mul %575, %583 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %585 = reprise.mul %584, %579 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %586 = reprise.mean %585 dims [2] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %587 = reprise.broadcast %586 dims [0, 1] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %588 = reprise.mul %579, %587 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %589 = reprise.mean %584 dims [2] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<8x32xf32>
    %590 = reprise.broadcast %589 dims [0, 1] {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %591 = reprise.sub %584, %590 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %592 = reprise.sub %591, %588 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %593 = reprise.mul %576, %592 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %594 = reprise.add %556, %593 {reprise.block = array<i64: 1>, reprise.cotangent, reprise.order = 1 : i64} : tensor<8x32x64xf32>
    %595 = reprise.dropout %594 seed %arg71 offset %arg72 {global_shape = array<i64: 8, 32, 64>, rate = 1.000000e-01 : f64, reprise.block = array<i64: 0>, reprise.cotangent, reprise.order = 1 : i64, stream = 0 : i64} : tensor<8x32x64xf32>
    %596 = reprise.sum %595 dims [0] {reprise.block = array<i64: 0>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32x64xf32>) -> tensor<32x64xf32>
    %597 = reprise.scatter_add %595 at %arg0 {reprise.block = array<i64: 0>, reprise.cotangent, reprise.order = 1 : i64} : (tensor<8x32xi32>, tensor<8x32x64xf32>) -> tensor<256x64xf32>
    %598 = reprise.add %248, %597 {reprise.block = array<i64: 0>, reprise.cotangent, reprise.order = 1 : i64} : tensor<256x64xf32>
    %599 = reprise.broadcast %arg2 dims [] : (tensor<f32>) -> tensor<256x64xf32>
    %600 = reprise.mul %598, %599 : tensor<256x64xf32>
    %601 = reprise.sub %arg3, %600 : tensor<256x64xf32>
    %602 = reprise.broadcast %arg2 dims [] : (tensor<f32>) -> tensor<32x64xf32>
    %603 = reprise.mul %596, %602 : tensor<32x64xf32>
    %604 = reprise.sub %arg4, %603 : tensor<32x64xf32>
    %605 = reprise.broadcast %arg2 dims [] : (tensor<f32>) -> tensor<64xf32>
    %606 = reprise.mul %581, %605 : tensor<64xf32>
    %607 = reprise.sub %arg5, %606 : tensor<64xf32>
    %608 = reprise.mul %582, %605 : tensor<64xf32>
    %609 = reprise.sub %arg6, %608 : tensor<64xf32>
    %610 = reprise.broadcast %arg2 dims [] : (tensor<f32>) -> tensor<64x1x64xf32>
    %611 = reprise.mul %574, %610 : tensor<64x1x64xf32>
    %612 = reprise.sub %arg7, %611 : tensor<64x1x64xf32>
    %613 = reprise.broadcast %arg2 dims [] : (tensor<f32>) -> tensor<1x64xf32>
    %614 = reprise.mul %572, %613 : tensor<1x64xf32>
    %615 = reprise.sub %arg8, %614 : tensor<1x64xf32>
    %616 = reprise.mul %569, %610 : tensor<64x1x64xf32>
    %617 = reprise.sub %arg9, %616 : tensor<64x1x64xf32>
    %618 = reprise.mul %567, %613 : tensor<1x64xf32>
    %619 = reprise.sub %arg10, %618 : tensor<1x64xf32>
    %620 = reprise.mul %565, %610 : tensor<64x1x64xf32>
    %621 = reprise.sub %arg11, %620 : tensor<64x1x64xf32>
    %622 = reprise.mul %563, %613 : tensor<1x64xf32>
    %623 = reprise.sub %arg12, %622 : tensor<1x64xf32>
    %624 = reprise.broadcast %arg2 dims [] : (tensor<f32>) -> tensor<1x64x64xf32>
    %625 = reprise.mul %561, %624 : tensor<1x64x64xf32>
    %626 = reprise.sub %arg13, %625 : tensor<1x64x64xf32>
    %627 = reprise.mul %558, %605 : tensor<64xf32>
    %628 = reprise.sub %arg14, %627 : tensor<64xf32>
    %629 = reprise.mul %543, %605 : tensor<64xf32>
    %630 = reprise.sub %arg15, %629 : tensor<64xf32>
    %631 = reprise.mul %544, %605 : tensor<64xf32>
    %632 = reprise.sub %arg16, %631 : tensor<64xf32>
    %633 = reprise.broadcast %arg2 dims [] : (tensor<f32>) -> tensor<64x256xf32>
    %634 = reprise.mul %537, %633 : tensor<64x256xf32>
    %635 = reprise.sub %arg17, %634 : tensor<64x256xf32>
    %636 = reprise.broadcast %arg2 dims [] : (tensor<f32>) -> tensor<256xf32>
    %637 = reprise.mul %535, %636 : tensor<256xf32>
    %638 = reprise.sub %arg18, %637 : tensor<256xf32>
    %639 = reprise.mul %516, %599 : tensor<256x64xf32>
    %640 = reprise.sub %arg19, %639 : tensor<256x64xf32>
    %641 = reprise.mul %514, %605 : tensor<64xf32>
    %642 = reprise.sub %arg20, %641 : tensor<64xf32>
    %643 = reprise.mul %499, %605 : tensor<64xf32>
    %644 = reprise.sub %arg21, %643 : tensor<64xf32>
    %645 = reprise.mul %500, %605 : tensor<64xf32>
    %646 = reprise.sub %arg22, %645 : tensor<64xf32>
    %647 = reprise.mul %492, %610 : tensor<64x1x64xf32>
    %648 = reprise.sub %arg23, %647 : tensor<64x1x64xf32>
    %649 = reprise.mul %490, %613 : tensor<1x64xf32>
    %650 = reprise.sub %arg24, %649 : tensor<1x64xf32>
    %651 = reprise.mul %487, %610 : tensor<64x1x64xf32>
    %652 = reprise.sub %arg25, %651 : tensor<64x1x64xf32>
    %653 = reprise.mul %485, %613 : tensor<1x64xf32>
    %654 = reprise.sub %arg26, %653 : tensor<1x64xf32>
    %655 = reprise.mul %483, %610 : tensor<64x1x64xf32>
    %656 = reprise.sub %arg27, %655 : tensor<64x1x64xf32>
    %657 = reprise.mul %481, %613 : tensor<1x64xf32>
    %658 = reprise.sub %arg28, %657 : tensor<1x64xf32>
    %659 = reprise.mul %479, %624 : tensor<1x64x64xf32>
    %660 = reprise.sub %arg29, %659 : tensor<1x64x64xf32>
    %661 = reprise.mul %476, %605 : tensor<64xf32>
    %662 = reprise.sub %arg30, %661 : tensor<64xf32>
    %663 = reprise.mul %461, %605 : tensor<64xf32>
    %664 = reprise.sub %arg31, %663 : tensor<64xf32>
    %665 = reprise.mul %462, %605 : tensor<64xf32>
    %666 = reprise.sub %arg32, %665 : tensor<64xf32>
    %667 = reprise.mul %455, %633 : tensor<64x256xf32>
    %668 = reprise.sub %arg33, %667 : tensor<64x256xf32>
    %669 = reprise.mul %453, %636 : tensor<256xf32>
    %670 = reprise.sub %arg34, %669 : tensor<256xf32>
    %671 = reprise.mul %434, %599 : tensor<256x64xf32>
    %672 = reprise.sub %arg35, %671 : tensor<256x64xf32>
    %673 = reprise.mul %432, %605 : tensor<64xf32>
    %674 = reprise.sub %arg36, %673 : tensor<64xf32>
    %675 = reprise.mul %417, %605 : tensor<64xf32>
    %676 = reprise.sub %arg37, %675 : tensor<64xf32>
    %677 = reprise.mul %418, %605 : tensor<64xf32>
    %678 = reprise.sub %arg38, %677 : tensor<64xf32>
    %679 = reprise.mul %410, %610 : tensor<64x1x64xf32>
    %680 = reprise.sub %arg39, %679 : tensor<64x1x64xf32>
    %681 = reprise.mul %408, %613 : tensor<1x64xf32>
    %682 = reprise.sub %arg40, %681 : tensor<1x64xf32>
    %683 = reprise.mul %405, %610 : tensor<64x1x64xf32>
    %684 = reprise.sub %arg41, %683 : tensor<64x1x64xf32>
    %685 = reprise.mul %403, %613 : tensor<1x64xf32>
    %686 = reprise.sub %arg42, %685 : tensor<1x64xf32>
    %687 = reprise.mul %401, %610 : tensor<64x1x64xf32>
    %688 = reprise.sub %arg43, %687 : tensor<64x1x64xf32>
    %689 = reprise.mul %399, %613 : tensor<1x64xf32>
    %690 = reprise.sub %arg44, %689 : tensor<1x64xf32>
    %691 = reprise.mul %397, %624 : tensor<1x64x64xf32>
    %692 = reprise.sub %arg45, %691 : tensor<1x64x64xf32>
    %693 = reprise.mul %394, %605 : tensor<64xf32>
    %694 = reprise.sub %arg46, %693 : tensor<64xf32>
    %695 = reprise.mul %379, %605 : tensor<64xf32>
    %696 = reprise.sub %arg47, %695 : tensor<64xf32>
    %697 = reprise.mul %380, %605 : tensor<64xf32>
    %698 = reprise.sub %arg48, %697 : tensor<64xf32>
    %699 = reprise.mul %373, %633 : tensor<64x256xf32>
    %700 = reprise.sub %arg49, %699 : tensor<64x256xf32>
    %701 = reprise.mul %371, %636 : tensor<256xf32>
    %702 = reprise.sub %arg50, %701 : tensor<256xf32>
    %703 = reprise.mul %352, %599 : tensor<256x64xf32>
    %704 = reprise.sub %arg51, %703 : tensor<256x64xf32>
    %705 = reprise.mul %350, %605 : tensor<64xf32>
    %706 = reprise.sub %arg52, %705 : tensor<64xf32>
    %707 = reprise.mul %335, %605 : tensor<64xf32>
    %708 = reprise.sub %arg53, %707 : tensor<64xf32>
    %709 = reprise.mul %336, %605 : tensor<64xf32>
    %710 = reprise.sub %arg54, %709 : tensor<64xf32>
    %711 = reprise.mul %328, %610 : tensor<64x1x64xf32>
    %712 = reprise.sub %arg55, %711 : tensor<64x1x64xf32>
    %713 = reprise.mul %326, %613 : tensor<1x64xf32>
    %714 = reprise.sub %arg56, %713 : tensor<1x64xf32>
    %715 = reprise.mul %323, %610 : tensor<64x1x64xf32>
    %716 = reprise.sub %arg57, %715 : tensor<64x1x64xf32>
    %717 = reprise.mul %321, %613 : tensor<1x64xf32>
    %718 = reprise.sub %arg58, %717 : tensor<1x64xf32>
    %719 = reprise.mul %319, %610 : tensor<64x1x64xf32>
    %720 = reprise.sub %arg59, %719 : tensor<64x1x64xf32>
    %721 = reprise.mul %317, %613 : tensor<1x64xf32>
    %722 = reprise.sub %arg60, %721 : tensor<1x64xf32>
    %723 = reprise.mul %315, %624 : tensor<1x64x64xf32>
    %724 = reprise.sub %arg61, %723 : tensor<1x64x64xf32>
    %725 = reprise.mul %312, %605 : tensor<64xf32>
    %726 = reprise.sub %arg62, %725 : tensor<64xf32>
    %727 = reprise.mul %297, %605 : tensor<64xf32>
    %728 = reprise.sub %arg63, %727 : tensor<64xf32>
    %729 = reprise.mul %298, %605 : tensor<64xf32>
    %730 = reprise.sub %arg64, %729 : tensor<64xf32>
    %731 = reprise.mul %291, %633 : tensor<64x256xf32>
    %732 = reprise.sub %arg65, %731 : tensor<64x256xf32>
    %733 = reprise.mul %289, %636 : tensor<256xf32>
    %734 = reprise.sub %arg66, %733 : tensor<256xf32>
    %735 = reprise.mul %270, %599 : tensor<256x64xf32>
    %736 = reprise.sub %arg67, %735 : tensor<256x64xf32>
    %737 = reprise.mul %268, %605 : tensor<64xf32>
    %738 = reprise.sub %arg68, %737 : tensor<64xf32>
    %739 = reprise.mul %254, %605 : tensor<64xf32>
    %740 = reprise.sub %arg69, %739 : tensor<64xf32>
    %741 = reprise.mul %255, %605 : tensor<64xf32>
    %742 = reprise.sub %arg70, %741 : tensor<64xf32>
    %743 = reprise.add %arg72, %9 : tensor<i64>
    reprise.return %237, %601, %604, %607, %609, %612, %615, %617, %619, %621, %623, %626, %628, %630, %632, %635, %638, %640, %642, %644, %646, %648, %650, %652, %654, %656, %658, %660, %662, %664, %666, %668, %670, %672, %674, %676, %678, %680, %682, %684, %686, %688, %690, %692, %694, %696, %698, %700, %702, %704, %706, %708, %710, %712, %714, %716, %718, %720, %722, %724, %726, %728, %730, %732, %734, %736, %738, %740, %742, %743 : tensor<f32>, tensor<256x64xf32>, tensor<32x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x1x64xf32>, tensor<1x64xf32>, tensor<64x1x64xf32>, tensor<1x64xf32>, tensor<64x1x64xf32>, tensor<1x64xf32>, tensor<1x64x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x256xf32>, tensor<256xf32>, tensor<256x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x1x64xf32>, tensor<1x64xf32>, tensor<64x1x64xf32>, tensor<1x64xf32>, tensor<64x1x64xf32>, tensor<1x64xf32>, tensor<1x64x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x256xf32>, tensor<256xf32>, tensor<256x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x1x64xf32>, tensor<1x64xf32>, tensor<64x1x64xf32>, tensor<1x64xf32>, tensor<64x1x64xf32>, tensor<1x64xf32>, tensor<1x64x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x256xf32>, tensor<256xf32>, tensor<256x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x1x64xf32>, tensor<1x64xf32>, tensor<64x1x64xf32>, tensor<1x64xf32>, tensor<64x1x64xf32>, tensor<1x64xf32>, tensor<1x64x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x256xf32>, tensor<256xf32>, tensor<256x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<i64>
  }
}

