#!/usr/bin/env python3
"""The emulated NCCL: values between two GPUs of one process, and its messages about wrong calls."""

import ctypes
import os
import subprocess
import sys

from checks import check, finish

FOLDER = os.path.join(os.environ["REPRISE_BUILD"], "gpu-emulator")
BYTES, FLOATS = 1, 7
IN_PROGRESS, INVALID_ARGUMENT, INVALID_USAGE = 7, 4, 5
NOT_READY, LAUNCH_FAILED = 600, 719


class UniqueId(ctypes.Structure):
    _fields_ = [("internal", ctypes.c_char * 128)]


class Config(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("magic", ctypes.c_uint), ("version", ctypes.c_uint), ("blocking", ctypes.c_int)]


class Gpus:
    """Two emulated GPUs, a stream on each, and a communicator of both."""

    def __init__(self, devices=(0, 1)):
        self.cuda, self.nccl = (ctypes.CDLL(os.path.join(FOLDER, name)) for name in ("libcuda.so.1", "libnccl.so.2"))
        self.must(self.cuda.cuInit(0))
        self.contexts, self.streams, self.comms = ([ctypes.c_void_p() for _ in devices] for _ in range(3))
        for i, device in enumerate(devices):
            self.must(self.cuda.cuDevicePrimaryCtxRetain(ctypes.byref(self.contexts[i]), device))
            self.enter(i)
            self.must(self.cuda.cuStreamCreate(ctypes.byref(self.streams[i]), 1))
        unique = UniqueId()
        self.must(self.nccl.ncclGetUniqueId(ctypes.byref(unique)))
        config = Config(ctypes.sizeof(Config), 0xCAFEBEEF, 21400, 0)
        for i in range(2):
            self.enter(i)
            result = self.nccl.ncclCommInitRankConfig(ctypes.byref(self.comms[i]), 2, unique, i, ctypes.byref(config))
            self.must(result - IN_PROGRESS)

    def must(self, result):
        assert result == 0, result

    def enter(self, i):
        self.must(self.cuda.cuCtxSetCurrent(self.contexts[i]))

    def state(self, i):
        result = ctypes.c_int()
        self.must(self.nccl.ncclCommGetAsyncError(self.comms[i], ctypes.byref(result)))
        return result.value

    def memory(self, i, data):
        self.enter(i)
        address = ctypes.c_ulonglong()
        self.must(self.cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(len(data))))
        self.must(self.cuda.cuMemcpyHtoD_v2(address, data, ctypes.c_size_t(len(data))))
        return address

    def read(self, i, address, count):
        self.enter(i)
        data = ctypes.create_string_buffer(count)
        self.must(self.cuda.cuMemcpyDtoH_v2(data, address, ctypes.c_size_t(count)))
        return data.raw

    def give(self, name, i, address, count, kind=BYTES, peer=None):
        self.enter(i)
        call = getattr(self.nccl, name)
        return call(address, ctypes.c_size_t(count), kind, 1 - i if peer is None else peer, self.comms[i], self.streams[i])

    def synchronize(self, i):
        self.enter(i)
        return self.cuda.cuStreamSynchronize(self.streams[i])

    def query(self, i):
        self.enter(i)
        return self.cuda.cuStreamQuery(self.streams[i])


def values_arrive():
    gpus = Gpus()
    print("connected", [gpus.state(i) for i in range(2)])
    data = os.urandom(100001)
    ones, zeros = gpus.memory(0, data), gpus.memory(1, bytes(len(data)))
    print("first call", gpus.give("ncclSend", 0, ones, len(data)), gpus.state(0))
    print("its peer", gpus.give("ncclRecv", 1, zeros, len(data)), gpus.state(1), gpus.state(0))
    print("stream", gpus.synchronize(1), gpus.read(1, zeros, len(data)) == data)
    print("second", gpus.give("ncclRecv", 1, zeros, 5), gpus.query(1), gpus.give("ncclSend", 0, ones, 5), gpus.query(1))
    print("end", gpus.nccl.ncclCommFinalize(gpus.comms[0]), gpus.nccl.ncclCommDestroy(gpus.comms[0]))


def counts_differ(count=32, kind=BYTES):
    gpus = Gpus()
    [gpus.state(i) for i in range(2)]
    from_place, to = gpus.memory(0, bytes(256)), gpus.memory(1, bytes(256))
    gpus.give("ncclSend", 0, from_place, 64)
    gpus.give("ncclRecv", 1, to, count, kind)
    [gpus.state(i) for i in (0, 1)]
    print("stream", gpus.synchronize(1))


def types_differ():
    counts_differ(64, FLOATS)


def one_gpu():
    gpus = Gpus(devices=(0, 0))
    print("states", [gpus.state(i) for i in range(2)])


def wrong_calls():
    gpus = Gpus()
    place = gpus.memory(0, bytes(64))
    print("before it is connected", gpus.give("ncclSend", 0, place, 64))
    [gpus.state(i) for i in range(2)]
    print("to itself", gpus.give("ncclSend", 0, place, 64, peer=0), gpus.give("ncclSend", 0, place, 64, peer=2))
    print("of no type", gpus.give("ncclSend", 0, place, 64, 99))
    print("of nothing", gpus.give("ncclSend", 0, place, 0))
    print("twice", gpus.give("ncclSend", 0, place, 64), gpus.give("ncclSend", 0, place, 64))


def too_long():
    gpus = Gpus()
    [gpus.state(i) for i in range(2)]
    places = gpus.memory(0, bytes(64)), gpus.memory(1, bytes(64))
    gpus.give("ncclSend", 0, places[0], 64)
    print("beyond its memory", gpus.give("ncclRecv", 1, places[1], 65), gpus.state(1), gpus.state(0))


def aborted():
    gpus = Gpus()
    [gpus.state(i) for i in range(2)]
    places = gpus.memory(0, bytes(64)), gpus.memory(1, b"x" * 64)
    gpus.give("ncclSend", 0, places[0], 64)
    gpus.give("ncclRecv", 1, places[1], 64)
    [gpus.state(i) for i in range(2)]
    gpus.give("ncclRecv", 1, places[1], 64)
    print("waits", gpus.query(1))
    gpus.nccl.ncclCommAbort(gpus.comms[1])
    print("aborted", gpus.synchronize(1))


EXPECTED = {
    values_arrive: (["connected [0, 0]", f"first call {IN_PROGRESS} {IN_PROGRESS}", f"its peer {IN_PROGRESS} 0 0", "stream 0 True",
                     f"second 0 {NOT_READY} 0 0", "end 0 0"], ""),
    counts_differ: ([f"stream {LAUNCH_FAILED}"], "meets a "),
    types_differ: ([f"stream {LAUNCH_FAILED}"], "64 elements of type 7 at rank 1"),
    one_gpu: ([f"states [{INVALID_USAGE}, {INVALID_USAGE}]"], "ranks 0 and 1 have one GPU"),
    wrong_calls: ([f"before it is connected {INVALID_USAGE}", f"to itself {INVALID_ARGUMENT} {INVALID_ARGUMENT}",
                   f"of no type {INVALID_ARGUMENT}", f"of nothing {INVALID_ARGUMENT}", f"twice {IN_PROGRESS} {INVALID_USAGE}"],
                  "another call is in progress"),
    too_long: ([f"beyond its memory {IN_PROGRESS} {INVALID_ARGUMENT} 0"], "the driver refuses a transfer: error 1"),
    aborted: ([f"waits {NOT_READY}", "aborted 0"], ""),
}


def main():
    """Runs each case in a process of its own, because a fault loses the GPU."""
    if len(sys.argv) == 2:
        return globals()[sys.argv[1]]()
    for order in ("forwards", "backwards"):
        os.environ.update(LD_LIBRARY_PATH=FOLDER, REPRISE_EMULATED_DEVICES="2", REPRISE_EMULATED_ORDER=order)
        for case, (lines, error) in EXPECTED.items():
            done = subprocess.run([sys.executable, __file__, case.__name__], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  timeout=60)
            good = done.returncode == 0 and done.stdout.splitlines() == lines
            check(f"{case.__name__}, {order}", good and (error in done.stderr if error else not done.stderr), done.stdout + done.stderr)
    return finish()


if __name__ == "__main__":
    main()
