// The second of two programs, after the memory phase: it computes tanh for the first one.
reprise.program @train devices [0] (%offset: tensor<i64> {reprise.name = "offset", reprise.role = "offset"}) -> (tensor<i64> {reprise.name = "offset"}) attributes {exec.arena_bytes = 512 : i64} {
  %x, %arrived = exec.receive from @first tag 1 {arguments = array<i64: -1>, offsets = array<i64: 0>} : tensor<64xf32>
  exec.wait %arrived
  %y = exec.launch (%a = %x) : (tensor<64xf32>) -> tensor<64xf32> {
    %r = reprise.tanh %a : tensor<64xf32>
    exec.return %r : tensor<64xf32>
  } {arguments = array<i64: -1>, offsets = array<i64: 256>}
  %sent = exec.send %y to @first tag 2 : tensor<64xf32>
  exec.wait %sent
  reprise.return %offset : tensor<i64>
}
