# Moves the border between two parts of a contraction from term 8 to term 6.
/reprise.name = "v\[0:8\]"/ { s/tensor<8x8xf32>/tensor<6x8xf32>/; s/array<i64: 0, 8, 16>/array<i64: 0, 6, 16>/ }
/reprise.name = "v\[8:16\]"/ { s/tensor<8x8xf32>/tensor<10x8xf32>/; s/array<i64: 8, 16, 16>/array<i64: 6, 16, 16>/ }
/from \[0, 0\] to \[4, 8\]/ { s/\[4, 8\]/[4, 6]/; s/-> tensor<4x8xf32>/-> tensor<4x6xf32>/ }
/from \[0, 8\]/ { s/\[0, 8\]/[0, 6]/; s/-> tensor<4x8xf32>/-> tensor<4x10xf32>/ }
/program @train_0/,/program @train_1/ s/(tensor<4x8xf32>, tensor<8x8xf32>)/(tensor<4x6xf32>, tensor<6x8xf32>)/
/program @train_1/,$ s/(tensor<4x8xf32>, tensor<8x8xf32>)/(tensor<4x10xf32>, tensor<10x8xf32>)/
