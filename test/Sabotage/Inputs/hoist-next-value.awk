# Moves the op that yields the next value of %arg2 to the first replay, and lets the replays read its result.
{ line[NR] = $0 }
/= reprise.mul %arg2,/ { next_value = $1; from = NR }
/replay = 1/ && !to { to = NR }
END {
  for (i = 1; i <= NR; ++i) {
    if (i == to)
      print line[from]
    if (line[i] ~ /replay = 1/)
      gsub(/%arg2 /, next_value " ", line[i])
    if (i != from)
      print line[i]
  }
}
