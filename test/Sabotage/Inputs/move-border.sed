# Moves the border between two parts of a contraction from term 8 to term 6.
/from \[0, 0\] to \[4, 8\]/ { s/\[4, 8\]/[4, 6]/; s/-> tensor<4x8xf32>/-> tensor<4x6xf32>/ }
/from \[0, 0\] to \[8, 8\]/ { s/\[8, 8\]/[6, 8]/; s/-> tensor<8x8xf32>/-> tensor<6x8xf32>/ }
/from \[8, 0\]/ { s/\[8, 0\]/[6, 0]/; s/-> tensor<8x8xf32>/-> tensor<10x8xf32>/ }
/from \[0, 8\]/ { s/\[0, 8\]/[0, 6]/; s/-> tensor<4x8xf32>/-> tensor<4x10xf32>/ }
/exec.send/ s/tensor<8x8xf32>/tensor<10x8xf32>/
/exec.receive from @train_0/ s/tensor<8x8xf32>/tensor<10x8xf32>/
/dot_general %0, %1/ s/(tensor<4x8xf32>, tensor<8x8xf32>)/(tensor<4x6xf32>, tensor<6x8xf32>)/
/dot_general %0, %value/ s/(tensor<4x8xf32>, tensor<8x8xf32>)/(tensor<4x10xf32>, tensor<10x8xf32>)/
