"""Runs from Python: results, arrays of the caller, threads; planning without a model."""

import os
import pathlib
import subprocess
import sys
import threading
import unittest

import numpy

import reprise

SOURCE, TOOLS = pathlib.Path(os.environ["REPRISE_SOURCE"]), pathlib.Path(os.environ["REPRISE_BUILD"]) / "bin"
MODEL = SOURCE / "test/Consumer/model.mlir"


class Runs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = reprise.compile(MODEL, threads=1)

    def test_a_run_has_the_bits_of_the_tool(self):
        self.program.save("run.rpb")
        told = subprocess.run([TOOLS / "reprise-run", "run.rpb", "--steps=3", "--seed=7", "--json"], capture_output=True,
                              text=True, check=True).stdout
        result = reprise.run(self.program, steps=3, seed=7)
        self.assertIn(result.hash, told)
        self.assertEqual(len(result.losses), 3)
        self.assertEqual(result.state["step"], 3)
        self.assertEqual(result["weight"].shape, (16, 4))
        for source in ("run.rpb", pathlib.Path("run.rpb"), self.program.to_bytes(), reprise.load("run.rpb")):
            self.assertEqual(reprise.run(source, steps=3, seed=7).hash, result.hash)

    def step_with(self, weight, expected):
        run = reprise.Run(self.program)
        weight[...] = numpy.linspace(-1, 1, 64, dtype=numpy.float32).reshape(16, 4)
        self.assertEqual(run.bind("weight", weight), expected)
        run.start(2, seed=3)
        run.step()
        run.step()
        numpy.testing.assert_array_equal(run.result("weight"), weight)
        self.assertNotEqual(weight[0, 0], -1)
        return run

    def test_parameters_are_updated_in_place(self):
        weight = reprise.Run.empty((16, 4), "f4")
        run = self.step_with(weight, True)
        self.assertEqual(run.view("weight").ctypes.data, weight.ctypes.data)
        self.assertFalse(run.view("weight").flags.writeable)
        apart = numpy.zeros((4, 16), "f4").T
        self.assertEqual(self.step_with(apart, False).hash, run.hash)
        unaligned = numpy.zeros(65, "f4")[1:].reshape(16, 4)
        self.assertEqual(self.step_with(unaligned, False).hash, run.hash)

    def test_inputs_of_each_step(self):
        rows = numpy.random.default_rng(1).normal(size=(3, 8, 16)).astype("f4")
        whole = reprise.run(self.program, {"x": rows}, steps=3, seed=1)
        own = reprise.Run(self.program)
        own.start(3, seed=1)
        losses = []
        for row in rows:
            own.give("x", row)
            own.step()
            losses.append(own.loss)
        self.assertEqual(losses, whole.losses)

    PAUSING = """
func.func @train(%x: tensor<8xf32> {reprise.name = "x", reprise.role = "input"},
    %w: tensor<8xf32> {reprise.name = "w", reprise.role = "input"},
    %g: tensor<8xf32> {reprise.name = "cotangent", reprise.role = "input"},
    %o: tensor<8xf32> {reprise.name = "y", reprise.role = "state"})
    -> (tensor<8xf32> {reprise.name = "y"}, tensor<8xf32> {reprise.name = "dw"}) {
  %r:3 = reprise.value_and_grad (%x1 = %x, %w1 = %w, %g1 = %g) wrt [1] : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<f32>, tensor<8xf32>, tensor<8xf32>) {
    %h = reprise.mul %x1, %w1 : tensor<8xf32>
    %y = reprise.exp %h : tensor<8xf32>
    %late = reprise.pause (%y) then (%g1) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %p = reprise.mul %y, %late : tensor<8xf32>
    %s = reprise.sum %p dims [0] : (tensor<8xf32>) -> tensor<f32>
    reprise.yield %s, %y : tensor<f32>, tensor<8xf32>
  }
  return %r#1, %r#2 : tensor<8xf32>, tensor<8xf32>
}
"""

    def test_a_step_in_two_parts(self):
        program = reprise.compile(self.PAUSING, threads=1)
        x, w, g = (numpy.random.default_rng(seed).normal(size=8).astype("f4") for seed in range(3))
        whole = reprise.run(program, {"x": x, "w": w, "cotangent": g, "y": numpy.zeros(8, "f4")})
        for is_bound in (False, True):
            run = reprise.Run(program)
            y = reprise.Run.empty((8,), "f4") if is_bound else numpy.zeros(9, "f4")[1:]
            run.give("x", x)
            run.give("w", w)
            run.bind("y", y)
            run.start(2)
            with self.assertRaisesRegex(reprise.Error, "no step waits at its pause"):
                run.end_step()
            run.begin_step()
            numpy.testing.assert_array_equal(y, whole["y"])
            numpy.testing.assert_array_equal(run.result("y"), whole["y"])
            with self.assertRaisesRegex(reprise.Error, "result 'dw' is not computed yet"):
                run.view("dw")
            with self.assertRaisesRegex(reprise.Error, "input 'cotangent' has no initializer"):
                run.end_step()
            run.begin_step()
            y[...] = 7  # the caller owns it from now on
            if is_bound:
                run.bind("cotangent", g)
            else:
                run.give("cotangent", g)
            run.end_step()
            numpy.testing.assert_array_equal(run.result("dw"), whole["dw"])
            self.assertEqual(run.state["step"], 1)
            run.step()
            numpy.testing.assert_array_equal(run.result("dw"), whole["dw"])
        late = {each["name"] for each in run.description["arguments"] if each["late"]}
        early = {each["name"] for each in run.description["results"] if each["early"]}
        self.assertEqual((run.description["pauses"], late, early), (True, {"cotangent"}, {"y"}))
        with self.assertRaisesRegex(reprise.Error, "the step has no pause"):
            other = reprise.Run(self.program)
            other.start(1)
            other.begin_step()

    def test_memory_that_moves(self):
        class Moving:
            def __dlpack__(self, **options):
                return self.array.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        x, w, g = (numpy.random.default_rng(seed).normal(size=8).astype("f4") for seed in range(3))
        program = reprise.compile(self.PAUSING, threads=1)
        whole = reprise.run(program, {"x": x, "w": w, "cotangent": g, "y": numpy.zeros(8, "f4")})
        for make in (lambda: reprise.Run.empty((8,), "f4"), lambda: numpy.zeros(9, "f4")[1:]):
            run, arrays = reprise.Run(program), {}
            for name, value in (("x", x), ("w", w), ("cotangent", g), ("y", g)):
                arrays[name] = Moving()
                arrays[name].array = make()
                arrays[name].array[...] = value
                run.bind(name, arrays[name])

            def move():
                for each in arrays.values():
                    old, each.array = each.array, make()
                    each.array[...] = old
                    old[...] = numpy.nan

            run.start(2)
            for _ in range(2):
                move()
                run.begin_step()
                numpy.testing.assert_array_equal(arrays["y"].array, whole["y"])
                move()
                run.end_step()
                numpy.testing.assert_array_equal(run.result("dw"), whole["dw"])
                run.step()
                move()
                numpy.testing.assert_array_equal(run.result("y"), whole["y"])
                self.assertEqual(run.hash, whole.hash)
            arrays["w"].array = numpy.zeros(4, "f4")
            with self.assertRaisesRegex(reprise.Error, "cannot bind 'w': shape"):
                run.step()
        resized = numpy.zeros(8, "f4")
        run.bind("w", resized)
        resized.resize(2, refcheck=False)
        with self.assertRaisesRegex(reprise.Error, "cannot bind 'w': shape"):
            run.step()
        with self.assertRaisesRegex(TypeError, "cannot bind 'w': expected an array that can be written to"):
            run.bind("w", "text")

    def test_wrong_arrays(self):
        run = reprise.Run(self.program)
        for name, array, message in (("weight", numpy.zeros((4, 16), "f4"), "shape"), ("weight", numpy.zeros((16, 4)), "type"),
                                     ("wait", numpy.zeros(1), "no argument of this name")):
            with self.assertRaisesRegex(reprise.Error, message):
                run.give(name, array)
        frozen = numpy.zeros((16, 4), "f4")
        frozen.flags.writeable = False
        with self.assertRaises((TypeError, BufferError)):
            run.bind("weight", frozen)
        with self.assertRaisesRegex(reprise.Error, "no result 'gain'"):
            run.view("gain")

    def test_brain_floats_are_words(self):
        text = MODEL.read_text().replace("f32", "bf16")
        run, name, shape = reprise.Run(reprise.compile(text, threads=1)), "weight", (16, 4)
        weight = reprise.Run.empty(shape, numpy.uint16)
        weight[...] = 0x3c00
        self.assertTrue(run.bind(name, weight))
        run.start(1)
        run.step()
        self.assertEqual(run.result(name).dtype, numpy.uint16)

    def test_threads_have_sessions_of_their_own(self):
        hashes = []

        def work(policy):
            hashes.append(reprise.run(reprise.compile(MODEL, policy=policy, threads=1), steps=3, seed=5).hash)

        threads = [threading.Thread(target=work, args=(policy,)) for policy in ("save-all", "recompute-all")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(hashes), 2)
        self.assertEqual(hashes[0], hashes[1])

    def test_folders(self):
        for path, options in (("six", {}), ("six.safetensors", {"behind": True}), ("shards", {"shard_bytes": 200, "behind": True})):
            run = reprise.Run(self.program)
            with self.assertRaisesRegex(reprise.UsageError, "no step has run"):
                run.save_folder(path)
            run.start(6, seed=5)
            for step in range(3):
                run.step()
            run.save_folder(path, **options)
            run.step()
            run.finish_save()
            rest = reprise.Run(self.program)
            rest.give_folder(path)
            self.assertEqual(rest.state["step"], 3)
            rest.start(3)
            rest.step()
            self.assertEqual(rest.hash, run.hash)
        with self.assertRaisesRegex(reprise.Error, "cannot write 'nowhere/out'"):
            run.save_folder("nowhere/out", behind=True)
        pathlib.Path("names.json").write_text('{"weight": "hub.weight"}')
        rest.set_names("names.json")
        rest.save_folder("hub.safetensors")
        with self.assertRaisesRegex(reprise.Error, "has no parameter 'weight'"):
            run = reprise.Run(self.program)
            run.give_folder("hub.safetensors")
            run.start(1)
        run.set_names("names.json")
        run.give_folder("hub.safetensors")
        run.start(1)

    def test_progress(self):
        told = []
        reprise.run(self.program, steps=2, progress=lambda step, loss: told.append((step, loss)))
        self.assertEqual([step for step, _ in told], [0, 1])


class Devices(unittest.TestCase):
    def test_stages_have_the_bits_of_one_device(self):
        text = subprocess.run([TOOLS / "reprise-zoo", "gpt2", "--layers=2", "--width=32", "--seq=16", "--batch=4"],
                              capture_output=True, text=True, check=True).stdout
        hashes = {reprise.run(reprise.compile(text, stages=stages, microbatches=2), steps=2, seed=1).hash for stages in (1, 2)}
        self.assertEqual(len(hashes), 1)

    def test_replicas_have_the_results_of_one_device(self):
        text = subprocess.run([TOOLS / "reprise-zoo", "gpt2", "--layers=1", "--width=32", "--seq=16", "--batch=4"],
                              capture_output=True, text=True, check=True).stdout
        one, four = (reprise.run(reprise.compile(text, microbatches=4, lanes=4, **mesh), steps=2, seed=1)
                     for mesh in ({}, {"mesh": "data=2", "stages": 2}))
        self.assertEqual(one.hash, four.hash)
        for name, result in one.arrays.items():
            numpy.testing.assert_array_equal(result, four.arrays[name])
        run = reprise.Run(reprise.compile(text, microbatches=4, lanes=4, mesh="data=4"))
        run.start(2, seed=1)
        for _ in range(2):
            run.step()
        name = max(one.arrays, key=lambda name: one.arrays[name].size)
        views = [numpy.asarray(run.view(name)) for _ in range(2)]  # both are valid until the next step
        self.assertEqual(*(each.__array_interface__["data"][0] for each in views))
        numpy.testing.assert_array_equal(views[0], one.arrays[name])
        numpy.testing.assert_array_equal(numpy.from_dlpack(run.take(name)), one.arrays[name])
        self.assertEqual(run.hash, one.hash)  # rows are copied, and the run has them still

    def test_a_gpu_has_the_bits_of_the_cpu(self):
        code = """
import numpy, reprise, sys
program = reprise.compile(sys.argv[1], target=sys.argv[2])
device = sys.argv[2].split(":")[0]
run = reprise.Run(program, device=device)
run.start(3, seed=1)
for step in range(3):
    run.give("x", numpy.full((8, 16), step, "f4"))
    run.step()
print(run.hash, run.view("weight").__dlpack_device__()[0])
"""
        # The emulated driver must be in the path when the process begins.
        environment = {**os.environ, "LD_LIBRARY_PATH": os.path.join(os.environ["REPRISE_BUILD"], "gpu-emulator")}
        told = [subprocess.run([sys.executable, "-c", code, MODEL, target], capture_output=True, text=True, env=environment)
                for target in ("cpu", "cuda:sm_90")]
        (own, host), (other, gpu) = [done.stdout.split() or [done.stderr, ""] for done in told]
        self.assertEqual(own, other)
        self.assertEqual((host, gpu), ("1", "2"))


class Planning(unittest.TestCase):
    PROBLEM = {"version": 1, "operations": [
        {"cost": 1, "results": [100]}, {"cost": 1, "operands": [0], "results": [100]},
        {"cost": 1, "operands": [1], "results": [100]},
        {"cost": 2, "backward": True, "operands": [1, 2], "results": [100]},
        {"cost": 2, "backward": True, "operands": [0, 3], "results": [100]}]}

    def test_a_checkpoint_problem(self):
        summary, solutions = reprise.plan(self.PROBLEM, budget=[300, 10])
        self.assertEqual([entry["peak"] for entry in summary], [300, None])
        self.assertIn("executions", solutions[0])
        self.assertEqual(solutions[1], "")

    def test_other_problems(self):
        summary, solutions = reprise.plan("id,lower,upper,size\na,0,1,100\nb,1,2,50\n", kind="offsets")
        self.assertEqual(summary["height"], 100)
        with self.assertRaises(reprise.UsageError):
            reprise.plan("{}", kind="chess")


if __name__ == "__main__":
    unittest.main()
