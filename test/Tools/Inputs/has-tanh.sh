#!/bin/sh
# Interesting, to mlir-reduce, is an exit code of 1.
grep -q reprise.tanh "$1" && exit 1
exit 0
