#!/usr/bin/env python3
"""Outputs of runs as .safetensors files: the arrays of .npy folders, the same bits for each form and each number of
processes, one error for each bad file, and saves behind the steps."""

import json
import math
import os
import pathlib
import resource
import shutil
import signal
import struct
import subprocess
import time

from checks import check, compile_model, finish, read_json, refuses, run, same_folder, skip, tool, write_json, zoo
from processes import MPIRUN, Running, reached

MODEL = ["gpt2", "--layers=1", "--width=16", "--heads=2", "--seq=4", "--batch=2", "--vocab=8", "--dropout=0.1", "--optimizer=adamw"]
SIZES = {"F32": 4, "F64": 8, "I64": 8, "BOOL": 1}
NUMPY = {"F32": "<f4", "I64": "<i8"}


def read_tensors(path):
    """Returns the header and the data of a file."""
    content = pathlib.Path(path).read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    return json.loads(content[8:8 + length]), content[8 + length:]


def write_tensors(path, header, data, length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text) if length is None else length) + text + data)


def describe(names, data):
    """Returns the tensors of a file as a dictionary from names to bytes."""
    return {name: data[each["data_offsets"][0]:each["data_offsets"][1]] for name, each in names.items() if name != "__metadata__"}


def same_file(name, first, second):
    check(name, pathlib.Path(first).read_bytes() == pathlib.Path(second).read_bytes())


def check_content():
    """A file has the arrays of a folder, its run.json, and the order that the format's library has."""
    run("model.rpb", "six", "--seed=5", "--steps=6")
    run("model.rpb", "six.safetensors", "--seed=5", "--steps=6")
    header, data = read_tensors("six.safetensors")
    run_record = header.pop("__metadata__")
    check("run.json is in the metadata", json.loads(run_record["run"]) == read_json("six/run.json") and run_record["format"] == "pt")
    arrays = {path.stem: path.read_bytes() for path in pathlib.Path("six").glob("*.npy")}
    tensors = describe(header, data)
    check("a tensor for each array", sorted(arrays) == sorted(tensors) and len(tensors) > 20)
    check("the bits of each array", all(arrays[name].endswith(tensors[name]) and len(arrays[name]) - len(tensors[name]) <= 128 for name in tensors))
    order = [(-SIZES[each["dtype"]], name) for name, each in header.items()]
    check("tensors by element size and name", order == sorted(order))


def check_forms():
    """3 + 3 steps through each form equal 6 steps."""
    flags = {"file.safetensors": [], "shards": ["--shard-size=3kB"], "sole": ["--shard-size=1GB"], "folder": []}
    for name, shards in flags.items():
        run("model.rpb", name, "--seed=5", "--steps=3", *shards)
    parts = sorted(path.name for path in pathlib.Path("shards").glob("model-*.safetensors"))
    count = len(parts)
    check("shards are numbered", count > 2 and parts == [f"model-{i + 1:05}-of-{count:05}.safetensors" for i in range(count)])
    check("shards keep their size", all(len(data) <= 3000 or len(header) == 2
                                          for header, data in (read_tensors(f"shards/{part}") for part in parts)))
    index = read_json("shards/model.safetensors.index.json")
    check("the index names all tensors", sorted(index["weight_map"]) == sorted(name for name in read_tensors("file.safetensors")[0] if name != "__metadata__"))
    check("one shard has no index", sorted(path.name for path in pathlib.Path("sole").iterdir()) == ["model.safetensors", "run.json"])
    for name in flags:
        run("model.rpb", "rest", "--steps=3", f"--input-dir={name}")
        same_folder(f"3 steps from {name}", "six", "rest")
    for name, shards in flags.items():
        run("model.rpb", name, "--steps=3", f"--input-dir={name}", *shards)
    same_file("3 + 3 steps in one file", "file.safetensors", "six.safetensors")
    same_folder("3 + 3 steps in one folder", "folder", "six")
    tool("reprise-compile", "model.mlir", "--interpret", "--input-dir=file.safetensors", "--steps=1", "--output-dir=judged.safetensors")
    run("model.rpb", "one.safetensors", "--input-dir=file.safetensors")
    same_file("the interpreter writes the same file", "judged.safetensors", "one.safetensors")


def check_mixtures():
    """Arrays from elsewhere, from several places, and under other names."""
    header, data = read_tensors("six.safetensors")
    del header["__metadata__"]
    roles = {each["name"]: each["role"] for each in read_json("six/run.json")["arguments"]}
    inputs = {name.replace("/", ".") for name, role in roles.items() if role == "parameter"}
    write_json("names.json", {name: ["other", "hub." + name] for name, role in list(roles.items())[:1]} |
               {name: "hub." + name for name, role in list(roles.items())[1:]})
    # The tensors of a hub have names of their own, and no record: state starts afresh.
    renamed = {"hub." + name.replace(".", "/") if name in inputs else name: each for name, each in header.items()}
    write_tensors("hub.safetensors", renamed, data)
    run("model.rpb", "hub", "--seed=9", "--input-dir=hub.safetensors", "--names=names.json")
    weights = [word for name, role in roles.items() if role == "parameter" for word in ("--input", f"{name}=six/{name.replace('/', '.')}.npy")]
    run("model.rpb", "given", "--seed=9", *weights)
    same_folder("weights under the names of a hub", "hub", "given")
    run("model.rpb", "given", "--seed=9", *[word.replace("six/", "six.safetensors#")[:word.index("=") + 1] + "six.safetensors"
                                            if "=" in word else word for word in weights])
    same_folder("--input takes tensors by the names of arguments", "hub", "given")
    run("model.rpb", "both", "--seed=9", "--input-dir=folder", "--input-dir=six.safetensors")
    run("model.rpb", "last", "--seed=9", "--input-dir=six.safetensors")
    same_folder("the last of two folders counts", "both", "last")
    shutil.copytree("six", "mixed")
    embedding = next(name for name in inputs if "embedding" in name)
    os.remove(f"mixed/{embedding}.npy")
    shutil.copy("six.safetensors", "mixed/model.safetensors")
    refuses("an array in two files", f"is in '", "reprise-run", "model.rpb", "--input-dir=mixed", "--output-dir=no.out")
    one = header[embedding]
    write_tensors("mixed/model.safetensors", {embedding: one | {"data_offsets": [0, one["data_offsets"][1] - one["data_offsets"][0]]}},
                  describe(header, data)[embedding])
    run("model.rpb", "last", "--input-dir=mixed")
    run("model.rpb", "both", "--input-dir=six")
    same_folder("one array of a folder is a tensor", "both", "last")


def bad_headers():
    """Bad files: (name, header or its bytes, data, length of the header, message)."""
    def tensor(begin, end, dtype="F32", shape=(2,), **more):
        return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]} | more

    good = {"a": tensor(0, 8)}
    eight = bytes(8)
    yield "an empty header", b"", b"", None, "the header is no JSON object"
    yield "a list", b"[]", b"", None, "the header is no JSON object"
    yield "no JSON", b"{abc", b"", None, "the header: expected a string at line 1, column 2"
    yield "text behind the header", b"{} x", b"", None, "the header: "
    yield "a name twice", b'{"a":{},"a":{}}', b"", None, "the key 'a' is repeated"
    yield "a name twice, spelled in two ways", b'{"a":{},"\\u0061":{}}', b"", None, "is repeated"
    yield "a huge header", good, eight, 2 ** 63, "the length of the header is 9223372036854775808, expected at most 100000000"
    yield "a long header", good, eight, 99_999_999, "truncated within the header, which has 99,999,999 bytes"
    yield "no object", {"a": 3}, b"", None, "tensor 'a' needs 'dtype', 'shape' and 'data_offsets'"
    yield "no shape", {"a": {"dtype": "F32", "data_offsets": [0, 8]}}, eight, None, "tensor 'a' needs 'dtype'"
    yield "a negative size", {"a": tensor(0, 8, shape=(-2,))}, eight, None, "tensor 'a' needs 'dtype'"
    yield "a fraction", {"a": tensor(0, 8, shape=(2.5,))}, eight, None, "tensor 'a' needs 'dtype'"
    yield "three offsets", {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4, 8]}}, eight, None, "tensor 'a' needs 'dtype'"
    yield "an unknown type", {"a": tensor(0, 8, "Q7")}, eight, None, "tensor 'a' has the unknown type 'Q7'"
    yield "offsets backwards", {"a": tensor(8, 0)}, eight, None, "tensor 'a' has the offsets [8, 0]"
    yield "offsets past the end", {"a": tensor(0, 16, shape=(4,))}, eight, None, "tensor 'a' ends at byte 16 of 8"
    yield "offsets of another shape", {"a": tensor(0, 8, shape=(3,))}, eight, None, "tensor 'a' of type F32 and shape [3] has the offsets [0, 8]"
    yield "too many elements", {"a": tensor(0, 8, shape=(2 ** 40, 2 ** 40))}, eight, None, "which is out of range"
    yield "tensors that overlap", {"a": tensor(0, 8), "b": tensor(4, 12)}, bytes(12), None, "the tensors 'a' and 'b' overlap"
    yield "a gap", {"a": tensor(0, 8), "b": tensor(12, 20)}, bytes(20), None, "there is a gap of 4 bytes in front of tensor 'b'"
    yield "more bytes", good, bytes(9), None, "1 byte more than the tensors need"
    yield "metadata of numbers", {"__metadata__": {"a": 1}} | good, eight, None, "the values of '__metadata__' must be strings at line 1"
    yield "metadata that is none", {"__metadata__": 1} | good, eight, None, "'__metadata__' is no object"
    yield "a bad record", {"__metadata__": {"run": "{}"}} | good, eight, None, "the string 'run' of the metadata: expected an integer 'seed'"
    yield "no argument", good, eight, None, "the file holds no argument: it has a tensor 'a', the program an argument '"


def check_bad_files():
    for name, header, data, length, message in bad_headers():
        write_tensors("bad.safetensors", header, data, length)
        said = refuses(name, message, "reprise-run", "model.rpb", "--input-dir=bad.safetensors", "--output-dir=no.out")
        check(f"{name}: one error with the file", said.count("error:") == 1 and "'bad.safetensors'" in said, said)
    pathlib.Path("bad.safetensors").write_bytes(b"1234")
    refuses("a short file", "'bad.safetensors': expected a .safetensors file, got 4 bytes", "reprise-run", "model.rpb", "--input-dir=bad.safetensors")
    check_bad_tensors()
    check_bad_indices()


def check_bad_tensors():
    """Files that are good, but not for this program."""
    header, data = read_tensors("six.safetensors")
    name, other = next((name, each) for name, each in header.items() if len(each.get("shape", [])) == 2)
    argument = name.replace(".", "/")
    cases = [({"dtype": "I32"}, f"tensor '{name}' has the type 'I32', expected 'F32'"),
             ({"shape": other["shape"][::-1] + [1]}, f"tensor '{name}': shape [{other['shape'][1]}, {other['shape'][0]}, 1], expected ")]
    for change, message in cases:
        write_tensors("bad.safetensors", header | {name: other | change}, data)
        refuses(message, message, "reprise-run", "model.rpb", "--input-dir=bad.safetensors", "--output-dir=no.out")
    roles = {each["name"]: each["role"] for each in read_json("six/run.json")["arguments"]}
    kept = next(each for each in roles if roles[each] == "parameter")
    write_tensors("bad.safetensors", {("gone" if key == kept.replace("/", ".") else key): each for key, each in header.items()}, data)
    refuses("a missing parameter", f"cannot continue from 'bad.safetensors': the output of entry 'train' has no parameter '{kept}'",
            "reprise-run", "model.rpb", "--input-dir=bad.safetensors")
    refuses("a missing tensor", f"cannot read 'bad.safetensors': there is no tensor '{kept.replace('/', '.')}' for '{kept}'",
            "reprise-run", "model.rpb", f"--input={kept}=bad.safetensors")
    for names, message in (("[]", "expected a JSON object"), ('{"a": 1}', "for 'a'"), ('{"a": []}', "for 'a'"),
                           (f'{{"a": "x", "{argument}": ["y", "x"]}}', f"the tensor 'x' is that of 'a' and of '{argument}'")):
        pathlib.Path("bad.json").write_text(names)
        refuses(f"names {names}", message, "reprise-run", "model.rpb", "--names=bad.json", "--input-dir=six.safetensors")
    write_json("bad.json", {argument: "loss"})
    refuses("two results with one tensor name", "have the same tensor name 'loss'", "reprise-run", "model.rpb", "--names=bad.json",
            "--output-dir=no.safetensors")


def check_bad_indices():
    shutil.copytree("shards", "broken")
    index = read_json("broken/model.safetensors.index.json")
    name = next(iter(index["weight_map"]))
    for files, message in ((None, "expected an object 'weight_map'"), ({name: 3}, f"tensor '{name}' needs the name of a file beside"),
                           ({name: "../six.safetensors"}, f"tensor '{name}' needs the name of a file beside"),
                           ({name: "gone.safetensors"}, "cannot read 'broken/gone.safetensors': No such file"),
                           ({"x": index["weight_map"][name]}, "has no tensor 'x'")):
        write_json("broken/model.safetensors.index.json", {"weight_map": files} if files else {})
        refuses(f"an index of {files}", message, "reprise-run", "model.rpb", "--input-dir=broken", "--output-dir=no.out")
    shutil.copy("six.safetensors", "broken/model.safetensors")
    refuses("a file and an index", "holds 'model.safetensors' and 'model.safetensors.index.json'", "reprise-run", "model.rpb", "--input-dir=broken")


def check_refused_outputs():
    """A file is replaced only if a run wrote it, and if the run reads nothing else from it."""
    def refused(name, message, *flags, code=1):
        refuses(name, message, "reprise-run", "model.rpb", *flags, code=code)

    before = pathlib.Path("hub.safetensors").read_bytes()
    refused("a file from elsewhere", "cannot write 'hub.safetensors': the file is not the output of a run", "--output-dir=hub.safetensors")
    check("a file from elsewhere stays", pathlib.Path("hub.safetensors").read_bytes() == before)
    part = sorted(pathlib.Path("shards").glob("model-*"))[0]
    refused("a part of a folder", f"cannot write '{part}': the file is not the output of a run", f"--output-dir={part}")
    os.mkdir("folder.safetensors")
    refused("a folder", "cannot write 'folder.safetensors'", "--output-dir=folder.safetensors")
    for name in ("model-00009-of-00009.safetensors", "model-mine.safetensors", "model.safetensors", "model.safetensors.index.json"):
        shutil.copy("shards/model.safetensors.index.json" if name.endswith(".json") else "six.safetensors", f"shards/{name}.new")
        kept = pathlib.Path(f"shards/{name}")
        old = kept.read_bytes() if kept.exists() else None
        os.rename(f"shards/{name}.new", kept)
        if name.endswith(".json"):
            index = read_json(kept)
            index["weight_map"]["loss"] = "../hub.safetensors"
            write_json(kept, index)
        refused(f"{name} of the user", f"cannot write 'shards': the folder holds '{name}', which is no result of its run", "--output-dir=shards")
        os.remove(kept) if old is None else kept.write_bytes(old)
    header, data = read_tensors("six.safetensors")
    tokens = next(each for each in read_json("six/run.json")["arguments"] if each["type"] == "i32")
    count = 4 * tokens["shape"][0] * tokens["shape"][1]
    more = {tokens["name"]: {"dtype": "I32", "shape": tokens["shape"], "data_offsets": [len(data), len(data) + count]}}
    write_tensors("more.safetensors", header | more, data + bytes(count))
    refused("values that are no results", "this run reads values from 'more.safetensors' that are no results of it", "--input-dir=more.safetensors",
            "--output-dir=./more.safetensors")
    run("model.rpb", "elsewhere.safetensors", "--input-dir=more.safetensors")
    refused("a size of no bytes", "expected --shard-size=BYTES, a number from 1 on", "--output-dir=out", "--shard-size=0", code=2)
    refused("a size of one file", "--shard-size writes a folder: 'no.safetensors' is one file", "--output-dir=no.safetensors", "--shard-size=1MB", code=2)
    refused("a size without a folder", "--shard-size needs --output-dir", "--shard-size=1MB", code=2)
    refused("behind what", "--save-behind needs --save-every", "--output-dir=out", "--save-behind", code=2)


def check_behind():
    """Saves behind the steps have the same bits, and report their memory and their errors."""
    said = run("model.rpb", "behind", "--seed=5", "--steps=6", "--save-every=1", "--save-behind")
    same_folder("saves behind the steps", "behind", "six")
    size = len(read_tensors("six.safetensors")[1])
    check("the copy is counted", said["snapshot_bytes"] == size, f"{said['snapshot_bytes']}, {size}")
    check("without a copy none is counted", run("model.rpb", "behind", "--seed=5", "--steps=6", "--save-every=1")["snapshot_bytes"] == 0)
    command = ["reprise-run", "model.rpb", "--seed=5", "--steps=100000000", "--save-every=1", "--save-behind"]
    for name in ("killed.safetensors", "killed"):
        for number in (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM):
            process = subprocess.Popen([*command, f"--output-dir={name}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            until = time.monotonic() + 60
            while not os.path.exists(name) and time.monotonic() < until:
                time.sleep(0.005)
            time.sleep(0.03)
            process.send_signal(number)
            check(f"{name}: {number.name} ends the run", process.wait() == -number)
        tool("reprise-run", "model.rpb", f"--input-dir={name}", f"--output-dir={name}")
    left = [path.name for path in pathlib.Path().iterdir() if ".reprise-" in path.name]
    check("killed saves leave nothing", not left, str(left))
    check_full_disk(command)


def check_full_disk(command):
    for name in ("full.safetensors", "full"):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        done = subprocess.run([*command, f"--output-dir={name}"], stderr=subprocess.PIPE, text=True, preexec_fn=limit)
        check(f"{name}: a full disk is one error of a later step", done.returncode == 1 and f"cannot write '{name}" in done.stderr
              and done.stderr.count("error:") == 1 and not os.path.exists(name), done.stderr)


def check_many_files():
    """A folder may have more arrays than a process may have open files at first."""
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (20, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    done = subprocess.run(["reprise-run", "model.rpb", "--input-dir=six", "--output-dir=many"], stderr=subprocess.PIPE, text=True,
                          stdout=subprocess.DEVNULL, preexec_fn=limit)
    check("a folder of many arrays", done.returncode == 0 and len(list(pathlib.Path("six").iterdir())) > 25, done.stderr)


def check_processes():
    """Two processes write the bytes of one, in each form."""
    compile_model("model.mlir", "two.rpb", "--threads=1", "--stages=2")
    for name, flags in (("two.safetensors", []), ("two.shards", ["--shard-size=3kB"]), ("two", ["--save-every=2", "--save-behind"])):
        tool(*MPIRUN, "-n", 2, "reprise-run", "two.rpb", "--seed=5", "--steps=6", f"--output-dir={name}", *flags)
    same_file("two processes write one file", "two.safetensors", "six.safetensors")
    same_folder("two processes write shards", "two.shards", "shards")
    same_folder("two processes save behind the steps", "two", "six")
    running = Running("two.full", "--save-every=1", "--save-behind", command=("reprise-run", "two.rpb"))
    resource.prlimit(running.ranks[1], resource.RLIMIT_FSIZE, (1000, 1000))
    running.ends("a full disk of one process", 1, "cannot write 'two.full/")
    run("model.rpb", "as-one", f"--steps={reached('two.full')}", "--seed=5")
    same_folder("the last folder is whole", "two.full", "as-one")
    check_failed_step()


def check_failed_step():
    """A step that fails in one process, with an index out of range, leaves the save before it whole."""
    header = b"\x93NUMPY\x01\x00v\x00"
    shapes = {each["name"]: each["shape"] for each in read_json("two/run.json")["arguments"]}
    for name in ("tokens", "labels"):
        shape = (5, *shapes[name])
        wrong = bytearray(4 * math.prod(shape))
        wrong[-4:] = (1 << 20).to_bytes(4, "little")
        text = f"{{'descr': '<i4', 'fortran_order': False, 'shape': {shape}, }}".encode()
        pathlib.Path("wrong.npy").write_bytes(header + text.ljust(117) + b"\n" + wrong)
        flags = ["--seed=5", f"--input={name}=wrong.npy"]
        run("two.rpb", "good", "--steps=4", *flags)
        for command in ([*MPIRUN, "-n", "2"], []):
            shutil.rmtree("failed", ignore_errors=True)
            done = subprocess.run([*command, "reprise-run", "two.rpb", *flags, "--steps=5", "--check-indices", "--output-dir=failed", "--save-every=1",
                                   "--save-behind"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            errors = [line for line in done.stderr.splitlines() if "error:" in line]
            check(f"{name}, {len(command)}: one error of step 4", done.returncode == 1 and len(errors) == 1 and "step 4" in errors[0], done.stderr)
            same_folder(f"{name}, {len(command)}: the save before the failed step is whole", "failed", "good")


def main():
    zoo("model.mlir", *MODEL)
    compile_model("model.mlir", "model.rpb", "--threads=1")
    check_content()
    check_forms()
    check_mixtures()
    check_bad_files()
    check_refused_outputs()
    check_behind()
    check_many_files()
    if shutil.which("mpirun") and os.path.exists(os.path.join(os.environ["REPRISE_BUILD"], "lib", "libRepriseMpi.so")):
        check_processes()
    else:
        skip("several processes", "no mpirun, or a build without MPI")
    finish()


if __name__ == "__main__":
    main()
