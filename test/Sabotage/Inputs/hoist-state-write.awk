# Moves the launch that overwrites argument 2 before the first launch.
{ line[NR] = $0 }
/= exec.launch/ { begin = NR; if (!to) to = NR }
/arguments = array<i64: 2>/ { from = begin; last = NR }
END {
  for (i = 1; i <= NR; ++i) {
    if (i == to)
      for (j = from; j <= last; ++j)
        print line[j]
    if (i < from || i > last)
      print line[i]
  }
}
