#!/usr/bin/env python3
"""Draws the words of a bundle by cuRAND, on the host and on the GPU, and compares them.

Usage: curand.py FOLDER STEPS SEED      FOLDER is that of make-bundles.py; needs reprise-run in PATH

Prints a line that begins with ok, FAILED or skipped for each of cuRAND's generators. cuRAND's Philox gives 65,536
threads four words in turn: the draws of the first thread are the words of our first stream, block for block.
"""
import ctypes
import os
import struct
import subprocess
import sys
import tempfile

WORDS, THREADS, PHILOX = 5000, 65536, 161


def draw_ours(folder, steps, seed):
    """Returns the words of the last step, and the number of their first block of four."""
    with tempfile.TemporaryDirectory() as work:
        out = os.path.join(work, "out")
        command = ["reprise-run", os.path.join(folder, "philox-words.rpb"), "--device=cuda", f"--steps={steps}", f"--seed={seed}", f"--output-dir={out}"]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        with open(os.path.join(out, "words.npy"), "rb") as stream:
            return struct.unpack(f"<{WORDS}q", stream.read()[-8 * WORDS:]), (steps - 1) * WORDS // 4


def open_library():
    for name in ("libcurand.so.10", "libcurand.so"):
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            reason = error
    sys.exit(print(f"skipped: cuRAND is not here: {reason}"))


class HostPlace:
    def __init__(self):
        self.words = (ctypes.c_uint32 * 4)()

    def address(self):
        return self.words

    def read(self):
        return list(self.words)


class DevicePlace:
    def __init__(self):
        self.cuda, context, self.place = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_uint64()
        steps = ((self.cuda.cuInit, 0), (self.cuda.cuDevicePrimaryCtxRetain, ctypes.byref(context), 0), (self.cuda.cuCtxSetCurrent, context),
                 (self.cuda.cuMemAlloc_v2, ctypes.byref(self.place), ctypes.c_size_t(16)))
        for function, *arguments in steps:
            if status := function(*arguments):
                raise OSError(f"the driver says {status}")

    def address(self):
        return ctypes.c_void_p(self.place.value)

    def read(self):
        words = (ctypes.c_uint32 * 4)()
        if status := self.cuda.cuMemcpyDtoH_v2(words, self.place, ctypes.c_size_t(16)):
            raise OSError(f"the driver says {status}")
        return list(words)


def draw_theirs(library, create, place, seed, blocks):
    generator = ctypes.c_void_p()

    def call(name, *arguments):
        if status := getattr(library, name)(*arguments):
            raise OSError(f"{name} says {status}")

    call(create, ctypes.byref(generator), PHILOX)
    call("curandSetPseudoRandomGeneratorSeed", generator, ctypes.c_ulonglong(seed))
    for block in blocks:
        call("curandSetGeneratorOffset", generator, ctypes.c_ulonglong(4 * THREADS * block))
        call("curandGenerate", generator, place.address(), ctypes.c_size_t(4))
        yield from place.read()
    call("curandDestroyGenerator", generator)


def compare(name, library, create, make_place, ours, first, seed):
    picked = range(0, WORDS // 4, 7)
    try:
        theirs = list(draw_theirs(library, create, make_place(), seed, [first + block for block in picked]))
    except OSError as error:
        return print(f"skipped: cuRAND's generator {name}: {error}")
    expected = [word for block in picked for word in ours[4 * block:4 * block + 4]]
    different = sum(one != other for one, other in zip(theirs, expected))
    return print(f"FAILED: cuRAND's generator {name}: {different} of {len(expected)} words differ" if different else
                 f"ok: cuRAND's generator {name} draws the same {len(expected)} words")


def main():
    folder, steps, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    library = open_library()
    ours, first = draw_ours(folder, steps, seed)
    compare("of the host", library, "curandCreateGeneratorHost", HostPlace, ours, first, seed)
    compare("of the GPU", library, "curandCreateGenerator", DevicePlace, ours, first, seed)


if __name__ == "__main__":
    main()
