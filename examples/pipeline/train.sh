#!/bin/sh
# Trains a GPT-2 in two stages, one process each, and compares the folder of results with that of one device.
# Usage: train.sh [HOSTS]      HOSTS: two hosts of a shared file system, such as a,b (default: this machine)
set -eu

reprise-zoo gpt2 --layers=4 --width=64 --seq=32 --vocab=64 --batch=8 --dropout=0.1 > model.mlir
reprise-compile model.mlir -o one.rpb --microbatches=4 --threads=1
reprise-compile model.mlir -o two.rpb --microbatches=4 --threads=1 --stages=2 --schedule=1f1b
reprise-run one.rpb --steps=3 --seed=5 --output-dir=one
mpirun ${1:+--host "$1"} -n 2 --bind-to none reprise-run two.rpb --steps=3 --seed=5 --output-dir=two
diff -r one two
echo "two stages have the bits of one device"
