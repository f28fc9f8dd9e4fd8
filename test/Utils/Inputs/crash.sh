#!/bin/sh
# Plays a test binary that dies in its third test.
echo "[       OK ] One.Test (0 ms)"
echo "[       OK ] Two.Test (0 ms)"
kill -SEGV $$
