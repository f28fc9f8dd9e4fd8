"""Compilations from Python: programs, reports, plans, policies, errors, progress, interrupts."""

import ast
import html.parser
import os
import pathlib
import signal
import subprocess
import threading
import unittest
import warnings

import reprise
from reprise._compile import compile_wish

SOURCE, TOOLS = pathlib.Path(os.environ["REPRISE_SOURCE"]), pathlib.Path(os.environ["REPRISE_BUILD"]) / "bin"
MODEL = SOURCE / "test/Consumer/model.mlir"
VIEWED = SOURCE / "test/Sabotage/Inputs/views.mlir"
BAD = "func.func @train(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = reprise.add %x, %z : tensor<4xf32>\n  return %y : tensor<4xf32>\n}\n"


def zoo(*flags):
    return subprocess.run([TOOLS / "reprise-zoo", *flags], capture_output=True, text=True, check=True).stdout


class Programs(unittest.TestCase):
    def test_the_bundle_is_that_of_the_tool(self):
        reprise.compile(MODEL, threads=1).save("python.rpb")
        subprocess.run([TOOLS / "reprise-compile", MODEL, "-o", "tool.rpb", "--threads=1"], check=True)
        self.assertEqual(pathlib.Path("python.rpb").read_bytes(), pathlib.Path("tool.rpb").read_bytes())

    def test_a_model_is_a_path_a_text_or_bytecode(self):
        text = MODEL.read_text()
        subprocess.run([TOOLS / "reprise-opt", "--emit-bytecode", MODEL, "-o", "model.mlirbc"], check=True)
        bundles = [reprise.compile(model, threads=1).description
                   for model in (MODEL, str(MODEL), text, pathlib.Path("model.mlirbc").read_bytes())]
        self.assertTrue(all(bundle == bundles[0] for bundle in bundles))

    def test_the_description_lists_arguments_and_results(self):
        description = reprise.compile(MODEL, threads=1).description
        self.assertEqual([argument["name"] for argument in description["arguments"]], ["x", "learning_rate", "weight"])
        self.assertEqual(description["results"][1]["argument"], "weight")

    def test_a_budget_is_met(self):
        text = zoo("gpt2", "--layers=4", "--width=32", "--seq=32")
        whole = reprise.compile(text, threads=1, policy="save-all").report
        part = reprise.compile(text, threads=1, budget="70%")
        taken = part.report.arena_bytes + part.report.workspace_bytes
        self.assertEqual(part.report.step_bytes, taken)
        self.assertLessEqual(taken, 0.7 * whole.step_bytes)
        self.assertIn("arena and workspace", repr(part.report))
        self.assertIn(f"({taken:,} bytes)", str(part.report))
        self.assertGreater(part.report.replayed_ops, 0)
        self.assertIn("replay", repr(part.plan))
        again = reprise.compile(text, threads=1, plan=part.plan)
        self.assertEqual(again.plan.choices, part.plan.choices)
        part.plan.save("plan.json")
        self.assertEqual(reprise.Plan.load("plan.json"), part.plan)

    def test_a_plan_file_has_each_key_once(self):
        for text, what, line, column in (
                ('{"version": 1,\n "values": {"a": "\\"b\\": {", "\\u0061": 1}}', "the key 'a' is repeated", 2, 30),
                ('\ufeff{"version": 1}', "byte-order mark", 1, 1), ('{"version":\n }', "syntax error", 2, 2)):
            pathlib.Path("wrong.json").write_text(text, encoding="utf-8")
            with self.assertRaisesRegex(reprise.Error, what) as caught:
                reprise.Plan.load("wrong.json")
            self.assertEqual((caught.exception.line, caught.exception.column), (line, column))
        pathlib.Path("right.json").write_text('{"a": [{"b": 1}, {"b": 2}], "b": {"a": "{\\"a\\": 1"}}')
        self.assertEqual(reprise.Plan.load("right.json").content["b"], {"a": '{"a": 1'})

    def test_an_estimate_has_no_bundle(self):
        program = reprise.compile(MODEL, estimate=True, budget="1GiB")
        self.assertTrue(program.fits)
        with self.assertRaises(ValueError):
            program.to_bytes()

    def test_several_stages_have_a_report_each(self):
        text = zoo("gpt2", "--layers=2", "--width=32", "--seq=16", "--batch=4")
        program = reprise.compile(text, stages=2, microbatches=2, threads=1)
        self.assertEqual(len(program.report.programs), 2)
        self.assertEqual(program.description["devices"], 2)
        self.assertIn("arena", str(program.report))


class Errors(unittest.TestCase):
    def test_an_error_has_its_place(self):
        with self.assertRaises(reprise.Error) as caught:
            reprise.compile(BAD, name="bad.mlir")
        error = caught.exception
        self.assertEqual((error.file, error.line, error.column), ("bad.mlir", 2, 24))
        self.assertTrue(str(error).startswith("bad.mlir:2:24: error: "))

    def test_usage_is_told_apart(self):
        for options in ({"budegt": "1GiB"}, {"budget": "lots"}, {"threads": 0}, {"policy": "save-most"}, {"entry": "tarin"}):
            with self.assertRaises(reprise.UsageError, msg=str(options)):
                reprise.compile(MODEL, **options)

    def test_a_budget_that_cannot_be_met(self):
        with self.assertRaisesRegex(reprise.Error, "does not fit in 8 bytes"):
            reprise.compile(MODEL, budget=8)
        with self.assertRaises(reprise.Error) as raised:
            reprise.compile(MODEL, budget="1%", threads=1)
        least = raised.exception.least_budget
        self.assertIsNone(reprise.Error("other").least_budget)
        program = reprise.compile(MODEL, budget=least, threads=1)
        self.assertLessEqual(program.report.arena_bytes + program.report.workspace_bytes, least)
        with self.assertWarnsRegex(reprise.RepriseWarning, f"the least budget that was met is {least:,} bytes, and takes its place"):
            wish = compile_wish(MODEL, budget="1%", threads=1)
        self.assertEqual(wish.to_bytes(), program.to_bytes())
        with self.assertRaises(reprise.Error):
            compile_wish(MODEL, budget=8)

    def test_a_warning_is_a_warning(self):
        rules = '{"version": 1, "rules": [{"match": {"scope": "nowhere"}, "label": "must_save"}]}'
        pathlib.Path("rules.json").write_text(rules)
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            reprise.compile(MODEL, policy="rules.json", allow_unmatched_rules=True)
        self.assertEqual([warning.category for warning in heard], [reprise.RepriseWarning])
        self.assertIn("rules.json:1:", str(heard[0].message))


class Policies(unittest.TestCase):
    def test_a_callable_sees_the_graph_and_labels_it(self):
        seen = []

        def contractions(graph):
            for op in graph.ops:
                seen.append((op.name, op.kinds, [value.shape for value in op.results]))
                if "contraction" in op.kinds:
                    op.label, op.reason = "must_save", "it is dear"
            self.assertIs(graph.ops[0].results[0].op, graph.ops[0])
            self.assertEqual(graph.ops[0].results[0].users, [graph.ops[1]])

        report = reprise.compile(MODEL, policy=contractions).report
        self.assertIn(("reprise.dot_general", frozenset({"contraction"}), [(8, 4)]), seen)
        row = next(row for row in report.rows() if row["op"] == "reprise.dot_general")
        self.assertEqual((row["label"], row["decision"]), ("must_save", "saved"))
        self.assertIn("it is dear", row["rule"])

    def test_a_callable_labels_memory_by_its_view(self):
        def views(graph):
            return {op: "must_recompute" for op in graph.ops if "view" in op.kinds}

        report = reprise.compile(VIEWED, policy=[views, "save-all"]).report
        rows = [row for row in report.rows() if row["op"] in ("reprise.sin", "reprise.reshape")]
        self.assertEqual([(row["decision"], row["saved_bytes"]) for row in rows], [("replayed", 0)] * 2)

    def test_a_callable_may_return_labels(self):
        report = reprise.compile(MODEL, policy=[lambda graph: {graph.ops[0]: "must_recompute"}, "save-all"]).report
        self.assertEqual(report.rows(decision="replayed")[0]["op"], "reprise.dot_general")

    def test_what_a_callable_raises_comes_through(self):
        def broken(graph):
            raise LookupError("no such layer")

        with self.assertRaisesRegex(LookupError, "no such layer"):
            reprise.compile(MODEL, policy=broken)
        with self.assertRaisesRegex(ValueError, "the unknown label 'keep'"):
            reprise.compile(MODEL, policy=lambda graph: {graph.ops[0]: "keep"})


class Reports(unittest.TestCase):
    def test_tables_and_pages(self):
        report = reprise.compile(MODEL, threads=1).report
        self.assertEqual(report.table(1).split("\n")[1].split()[1], "reprise.dot_general")
        self.assertGreater(report.arena_bytes, 0)
        with self.assertRaises(AttributeError):
            report.arena_bites
        parser = html.parser.HTMLParser()
        parser.feed(report._repr_html_())
        self.assertIn("<table>", report._repr_html_())
        self.assertIn("<html", report.html)
        self.assertGreater(max(report.live_bytes()), 0)
        self.assertLessEqual(max(report.live_bytes()), report.arena_bytes)

    def test_a_plot_needs_matplotlib(self):
        report = reprise.compile(MODEL, threads=1).report
        try:
            import matplotlib
        except ImportError:
            with self.assertRaisesRegex(ImportError, r"pip install reprise\[plots\]"):
                report.plot()
        else:
            matplotlib.use("agg")
            self.assertEqual(report.plot().get_xlabel(), "launch")


class Stubs(unittest.TestCase):
    def test_the_stub_lists_what_the_extension_has(self):
        tree = ast.parse((pathlib.Path(reprise.__file__).parent / "_core.pyi").read_text())
        listed = {node.name: node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
        public = {name for name in dir(reprise._core) if not name.startswith("_")}
        self.assertEqual(public, {*listed, "version", "api_version"})
        for name, node in listed.items():
            if isinstance(node, ast.ClassDef):
                methods = {entry.name for entry in node.body if entry.name != "__init__"}
                self.assertEqual(methods, {entry for entry in dir(getattr(reprise._core, name)) if not entry.startswith("_")})


class Progress(unittest.TestCase):
    def test_phases_are_told(self):
        phases = []
        reprise.compile(zoo("gpt2", "--layers=4", "--width=32", "--seq=32"), budget="70%", progress=phases.append)
        self.assertIn("plan", phases)

    def test_an_interrupt_ends_a_compilation(self):
        text = zoo("gpt2", "--layers=12", "--width=64")
        alarm = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        alarm.start()
        with self.assertRaises(KeyboardInterrupt):
            reprise.compile(text, budget="45%")
        alarm.join()

    def test_an_interrupt_ends_a_search(self):
        count = 1500
        forward = [{"cost": 1 + i % 5, "results": [1000 + 37 * i % 500], "operands": [each for each in (i - 1, i - 24) if each >= 0]}
                   for i in range(count)]
        backward = [{"cost": 2, "results": [1000], "backward": True, "operands": [count - 1 + i, count - 1 - i]} for i in range(count)]
        problem = {"version": 1, "operations": forward + backward}
        alarm = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        alarm.start()
        with self.assertRaises(KeyboardInterrupt):
            reprise.plan(problem, budget=[f"{20 + share / 100}%" for share in range(1000)])  # about 5 seconds each
        alarm.join()

    def test_an_exception_of_the_callback_ends_it(self):
        def stop(phase):
            raise RuntimeError("enough")

        with self.assertRaisesRegex(RuntimeError, "enough"):
            reprise.compile(MODEL, progress=stop)


if __name__ == "__main__":
    unittest.main()
