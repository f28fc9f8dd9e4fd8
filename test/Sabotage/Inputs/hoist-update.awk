# In the first program, moves the wait for the send of argument 1 to the end (what=wait), or the second send of argument 2,
# with its wait, behind the launch that overwrites it (what=send).
what == "wait" && /exec.wait %0 / && !kept { kept = $0; next }
what == "wait" && /^    reprise.return/ && kept { print kept; what = "" }
what == "send" && /%2 = exec.send/ && !kept { kept = $0; next }
what == "send" && /exec.wait %2 / { wait = $0; next }
{ print }
what == "send" && /arguments = array<i64: 2>/ { print kept; print wait; what = "" }
