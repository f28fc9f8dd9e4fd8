#!/usr/bin/env python3
"""Writes the words of policies and plans in PlanEnums.td for users without MLIR: the planner, C and Python.

Usage: make-enums.py TBLGEN MLIR_INCLUDE FOLDER      TBLGEN is llvm-tblgen; files get their paths in the repository
below FOLDER.
"""
import json
import os
import re
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ODS = "include/reprise/Dialect/Reprise/IR/PlanEnums.td"
CPP, C, PYTHON = "include/reprise/Planning/Checkpoint/Problem/PlanEnums.h", "include/reprise-c/Labels.h", "python/reprise/_plan_enums.py"
#: The dialect's own enum has the name in C++ already.
NAMES = {"Label": "ValueLabel"}
MADE = f"Made by utils/make-enums.py from {ODS}."


def read(tblgen, include):
    """Name -> (summary, [(symbol, number, text, meaning)]) of all enums, in the order of the file."""
    path = os.path.join(SOURCE, ODS)
    records = json.loads(subprocess.run([tblgen, "--dump-json", "-I", os.path.join(SOURCE, "include"), "-I", include, path],
                                        check=True, capture_output=True, text=True).stdout)
    with open(path) as stream:
        order = re.findall(r"^def (\w+)", stream.read(), re.MULTILINE)
    enums = {}
    for name in order:
        cases = [records[each["def"]] for each in records[name]["enumerants"]]
        enums[name.removeprefix("Reprise_")] = records[name]["summary"], [
            (case["symbol"], case["value"], case["str"], case["meaning"]) for case in cases]
    return enums


def camel(symbol):
    return "".join(part[0].upper() + part[1:] for part in symbol.split("_"))


def list_cpp(name, summary, cases):
    name = NAMES.get(name, name)
    has_none = cases[0][1] > 0
    lines = [f"/// {summary[0].upper() + summary[1:]}.", f"enum class {name} : uint8_t {{"] + ["  None, ///< nothing"] * has_none
    for symbol, number, _, meaning in cases:
        lines += [f"  /// {meaning[0].upper() + meaning[1:]}.", f"  {camel(symbol)} = {number},"]
    texts = [""] * has_none + [text for _, _, text, _ in cases]
    array = f"k{name}Texts"
    return [*lines, "};", f"inline constexpr std::string_view {array}[] = {{", *(f'    "{text}",' for text in texts), "};",
            f"constexpr std::string_view getText({name} value) {{ return {array}[static_cast<size_t>(value)]; }}",
            "/// The case with that text; none for another text.", f"constexpr std::optional<{name}> parse{name}(std::string_view text) {{",
            f"  for (size_t number = {int(has_none)}; number < std::size({array}); ++number)", f"    if ({array}[number] == text)",
            f"      return static_cast<{name}>(number);", "  return std::nullopt;", "}", ""]


def write_cpp(enums):
    lines = ["// reprise: the words of policies and plans", "//", f"// {MADE}",
             "#ifndef REPRISE_PLANNING_CHECKPOINT_PROBLEM_PLANENUMS_H", "#define REPRISE_PLANNING_CHECKPOINT_PROBLEM_PLANENUMS_H", "",
             "#include <cstdint>", "#include <iterator>", "#include <optional>", "#include <string_view>", "",
             "// clang-format off", "namespace reprise::checkpoint {", ""]
    for name, (summary, cases) in enums.items():
        lines += list_cpp(name, summary, cases)
    return [*lines, "} // namespace reprise::checkpoint", "", "#endif // REPRISE_PLANNING_CHECKPOINT_PROBLEM_PLANENUMS_H"]


def write_c(enums):
    _, cases = enums["Label"]
    return ["/* reprise: what a policy asks for the results of an op", " *", f" * {MADE} */", "#ifndef REPRISE_C_LABELS_H",
            "#define REPRISE_C_LABELS_H", "", "/* clang-format off */", "enum {", "  RP_NO_LABEL = 0,",
            *(f"  RP_{symbol.upper()} = {number}, /* {meaning} */" for symbol, number, _, meaning in cases), "};", "",
            "#endif /* REPRISE_C_LABELS_H */"]


def write_python(enums):
    lines = ['"""The words of policies and plans, each with its number.', "", MADE, '"""', ""]
    for name, (summary, cases) in enums.items():
        lines += [f"#: {summary[0].upper() + summary[1:]}.", f"{name.upper()}S = {{",
                  *(f'    "{text}": {number},  # {meaning}' for _, number, text, meaning in cases), "}"]
    return lines


def main(tblgen, include, folder):
    enums = read(tblgen, include)
    for path, lines in ((CPP, write_cpp(enums)), (C, write_c(enums)), (PYTHON, write_python(enums))):
        path = os.path.join(folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as stream:
            stream.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
