#!/usr/bin/env python3
"""Causal attention does not read later tokens: a changed token changes no bit of the logits before it."""

import array
import random

from arrays import read_npy, write_npy
from checks import check, compile_model, finish, run, zoo

BATCH, SEQ, VOCAB = 2, 40, 61


def logits(tokens, name):
    """The bytes of the logits, by sample and position."""
    write_npy("tokens.npy", "<i4", (BATCH, SEQ), array.array("i", tokens).tobytes())
    run("forward.rpb", name, "--seed=3", "--input", "tokens=tokens.npy")
    _, shape, data = read_npy(f"{name}/logits.npy")
    assert shape == (BATCH, SEQ, VOCAB)
    row = len(data) // (BATCH * SEQ)
    return [[data[(sample * SEQ + position) * row:][:row] for position in range(SEQ)] for sample in range(BATCH)]


def main():
    zoo("model.mlir", "gpt2", "--layers=2", "--width=64", "--heads=2", f"--batch={BATCH}", f"--seq={SEQ}", f"--vocab={VOCAB}")
    compile_model("model.mlir", "forward.rpb", "--entry=forward", "--threads=2")
    pick = random.Random(4)
    tokens = [pick.randrange(VOCAB) for _ in range(BATCH * SEQ)]
    first = logits(tokens, "first")
    for changed in (SEQ - 1, SEQ // 2, 1):
        others = list(tokens)
        others[changed] = (others[changed] + 1) % VOCAB
        second = logits(others, "second")
        check(f"token {changed} changed: no bit before it changes", first[0][:changed] == second[0][:changed])
        check(f"token {changed} changed: every later position sees it",
              all(one != two for one, two in zip(first[0][changed:], second[0][changed:])))
        check(f"token {changed} changed: no bit of the other sample changes", first[1] == second[1])
    finish()


if __name__ == "__main__":
    main()
