#!/usr/bin/env python3
"""Lists every message that the project prints, and checks the list and each message.

Usage: check-messages.py BUILD [SOURCE]             compares with test/Tools/messages.txt in SOURCE (default: the
                                                    tree that holds this file); BUILD is not read
       check-messages.py BUILD [SOURCE] --update    writes that file

The list has the errors, warnings, notes and remarks of the C++ sources and of the Python package, by folder. A value
stands as {}, alternatives as {this|that}. Each message

- begins with a small letter, a value, or one of NAMES, and ends without a period;
- begins with no pronoun, since its noun would be in another sentence;
- has none of the VAGUE phrases, which a reader cannot take literally;
- shows numbers of bytes with commas (groupDigits and amount in C++, `:,` in Python).

Fuzzers and integration tests recognize messages by phrases. Each phrase stands in a message of the list, so that a
message with new words fails here and not in a run at night.

The last line is "N passed, N failed".
"""
import ast
import difflib
import os
import re
import sys

places = [word for word in sys.argv[1:] if not word.startswith("--")]
SOURCE = os.path.abspath(places[1] if len(places) > 1 else os.path.join(os.path.dirname(__file__), ".."))
LIST = "test/Tools/messages.txt"
CPP_FOLDERS = ("lib/reprise", "include/reprise", "tools", "python/src")
PYTHON_FOLDER = "python/reprise"
# Text that is no message: code for kernels, pages, tables of reports.
NO_MESSAGES = re.compile(r"Html|Reduction\.cpp|Conversion/(Cuda|Cpu|LoopNest)/(?!Target|AssemblePtx|CompilePtx|CudaBackend|Linker|AttentionLaunch)|Page\.|Assembly")

EMITTERS = {"emitError": "error", "emitOpError": "error", "emitOptionalError": "error", "emitPolicyError": "error",
            "emitScheduleError": "error", "emitPlanError": "error", "createStringError": "error", "make": "error",
            "make_error": "error", "makeError": "error", "fail": "error", "refuse": "error", "error": "error",
            "report_fatal_error": "error", "startError": "error", "cannotRead": "error", "Defect": "error", "JsonFault": "error",
            "emitWarning": "warning", "attachNote": "note", "emitRemark": "remark"}
STREAMS = {"diagnostic": "error", "error": "error", "note": "note"}
RESULTS = re.compile(r"^(wrong|why|problem|reason|defect|message|refusal)$")
PYTHON_EMITTERS = re.compile(r"(Error|Unsupported|Missing|warn)$|^lines\.append$")
WRAPPERS = {"string", "Twine", "StringRef", "formatv", "move", "str", "amount"}

NAMES = {"NCCL", "MPI", "CUDA", "GPU", "cuBLASLt", "cuDNN", "PyTorch", "Inductor", "JAX", "Dynamo", "Python", "StableHLO",
         "B", "I", "W", "Adam"}
PRONOUNS = {"it", "that", "those", "what", "which", "nothing", "one", "not", "else", "also", "of", "as", "these", "they"}
FRAGMENTS = "lib/reprise/StableHlo"  # behind an op: "stablehlo.sort of several operands"
VAGUE = re.compile(r"(^|[:;,(] )it (is|has|holds|lacks|became|takes)\b|\b(that|so) many\b|\bsuch (?!as\b|file\b)|\bthe like\b"
                   r"|\bis none of\b|\bhas none\b|\bnot there\b|\bsome(thing| way)\b")

#: Folders with scripts and fuzzers that read messages, and what they call the text that they read.
READERS = ("utils/fuzz", "test/Integration")
HEARD = re.compile(r"stderr|\bsaid\b|\bmessage\b")

TOKEN = re.compile(r'''//[^\n]*|/\*.*?\*/|R"(\w*)\((?P<raw>.*?)\)\1"|"(?P<text>(?:\\.|[^"\\\n])*)"|'(?:\\.|[^'\\])'
                       |[A-Za-z_]\w*|\d[\w.']*|::|->|<<|\s+|.''', re.S | re.X)


def tokens_of(text):
    """Yields (kind, text) of every token: "text" for string literals, "code" for all other tokens."""
    for match in TOKEN.finditer(re.sub(r"^ *#.*", "", text, flags=re.M)):
        token = match.group(0)
        if match.group("raw") is not None or match.group("text") is not None:
            yield "text", match.group("raw") if match.group("raw") is not None else match.group("text")
        elif not token.isspace() and not token.startswith(("//", "/*")):
            yield "code", token


def end_of_group(tokens, at):
    """Returns the index behind the bracket that closes the one at `at`."""
    depth = 0
    for index in range(at, len(tokens)):
        kind, token = tokens[index]
        if kind == "code" and token in "([{":
            depth += 1
        elif kind == "code" and token in ")]}":
            depth -= 1
            if depth == 0:
                return index + 1
    return len(tokens)


def split(tokens, separators):
    """Parts between separators that stand in no brackets."""
    parts, part, at = [], [], 0
    while at < len(tokens):
        kind, token = tokens[at]
        end = end_of_group(tokens, at) if kind == "code" and token in "([{" else at + 1
        if kind == "code" and token in separators:
            parts.append(part)
            part = []
        else:
            part += tokens[at:end]
        at = end
    return parts + [part]


def render(tokens):
    """Returns the output of an expression."""
    condition, *choices = split(tokens, ("?",))
    if choices:
        shown = []
        for part in choices[:-1]:
            yes, *_ = split(part, (":",))
            shown.append(render(yes))
        shown += [render(part) for part in split(choices[-1], (":",))]
        return "{" + "|".join(shown) + "}"
    return re.sub(r"(\{\})+", "{}", "".join(operand(part) for part in split(tokens, ("+", "<<", ",")) if part))


def operand(tokens):
    if all(kind == "text" for kind, _ in tokens):
        return "".join(token for _, token in tokens).replace("\\\"", '"').replace("\\n", "")
    names = [token for kind, token in tokens if kind == "code" and re.match(r"\w", token)]
    if tokens[0] == ("code", "(") and end_of_group(tokens, 0) == len(tokens):
        return render(tokens[1:-1])
    bracket = next((at for at, token in enumerate(tokens) if token == ("code", "(")), None)
    if bracket is None:
        return "{}"
    if tokens[0] == ("code", "("):  # ("a" + b).str()
        return render(tokens[1:end_of_group(tokens, 0) - 1])
    called = tokens[bracket - 1][1]
    inner = tokens[bracket + 1:end_of_group(tokens, bracket) - 1]
    if called == "formatv" and inner and inner[0][0] == "text":
        return re.sub(r"\{\d[^}]*\}", "{}", operand(split(inner, (",",))[0]))
    return render(inner) if called in WRAPPERS and names and any(kind == "text" for kind, _ in inner) else "{}"


def chain(tokens, at):
    """Returns the tokens of an expression from `at` on, up to its end."""
    end = at
    while end < len(tokens):
        kind, token = tokens[end]
        if kind == "code" and token in (";", ",", ")", "}", "]", ":", "{"):
            break
        end = end_of_group(tokens, end) if kind == "code" and token in "([" else end + 1
    return tokens[at:end]


def messages_in_cpp(path, text):
    """(kind, message, whether its bytes are grouped) of a C++ file."""
    tokens = list(tokens_of(text))
    for at, (kind, token) in enumerate(tokens[:-1]):
        follows = tokens[at + 1]
        if kind != "code":
            continue
        if token in EMITTERS and follows[1] in "({" and follows[0] == "code":
            end = end_of_group(tokens, at + 1)
            parts = split(tokens[at + 2:end - 1], (",",))
            texts = [part for part in parts if any(kind == "text" for kind, _ in part)]
            spoken = [part for part in texts if any(kind == "text" and " " in word for kind, word in part)]
            yield EMITTERS[token], sum(spoken or texts, []) + [("code", "<<")] + chain(tokens, end)
        elif token in STREAMS and follows == ("code", "<<"):
            yield STREAMS[token], chain(tokens, at + 2)
        elif token == "return" or RESULTS.match(token) and follows == ("code", "="):
            found = chain(tokens, at + (1 if token == "return" else 2))
            if any(part == ("code", name) for part in found for name in EMITTERS) or path.endswith((".h",)):
                continue
            yield "error", found


def looks_like_message(text):
    words = re.findall(r"[A-Za-z]{2,}", re.sub(r"\{\}", "", text))
    return len(words) >= 2 and " " in text.strip() and "</" not in text and not text.startswith(("<", "\\", '"', '{"'))


def cpp_messages():
    for name in files(CPP_FOLDERS, (".cpp", ".h")):
        if NO_MESSAGES.search(name):
            continue
        for kind, tokens in messages_in_cpp(name, read(name)):
            text = re.sub(r"^(\{\})?[:;,]? ", r"\1 ", render(tokens)).strip()
            if looks_like_message(text):
                yield os.path.dirname(name), kind, text, name, raw_bytes_in(tokens)


def raw_bytes_in(tokens):
    """Returns whether a number of bytes is printed without commas."""
    for part in split(tokens, ("?", ":", ",")):
        operands = split(part, ("+", "<<"))
        for value, unit in zip(operands, operands[1:]):
            is_unit = unit and unit[0][0] == "text" and re.match(r" bytes?\b", unit[0][1])
            names = {token for kind, token in value if kind == "code"}
            if is_unit and names and not names & {"groupDigits", "amount"} and all(kind == "code" for kind, _ in value):
                return True
    return False


def python_text(node):
    """Returns the output of a string expression of Python; None for any other expression."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = [python_text(node.left), python_text(node.right)]
        return None if parts == [None, None] else "".join("{}" if part is None else part for part in parts)
    if isinstance(node, ast.IfExp):
        parts = [python_text(node.body), python_text(node.orelse)]
        return "{" + "|".join("{}" if part is None else part for part in parts) + "}"
    return None


def said_in(node):
    """Returns the expression of a message that a node of Python's syntax emits, or None."""
    if isinstance(node, ast.Call) and node.args and PYTHON_EMITTERS.search(ast.unparse(node.func)):
        return node.args[0]
    is_text = isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and RESULTS.match(node.targets[0].id)
    return node.value if is_text else None


def python_messages():
    for name in files((PYTHON_FOLDER,), (".py",)):
        for node in ast.walk(ast.parse(read(name))):
            said = said_in(node)
            text = python_text(said) if said is not None else None
            if text and looks_like_message(text):
                raw = any(is_raw_number(part, after) for part, after in neighbours(said))
                is_warning = isinstance(node, ast.Call) and "warn" in ast.unparse(node.func)
                yield os.path.dirname(name), "warning" if is_warning else "error", text, name, raw


def neighbours(expression):
    for node in ast.walk(expression):
        if isinstance(node, ast.JoinedStr):
            yield from zip(node.values, node.values[1:])


def is_raw_number(value, after):
    is_unit = isinstance(after, ast.Constant) and re.match(r" bytes?\b", str(after.value))
    return bool(is_unit) and isinstance(value, ast.FormattedValue) and value.format_spec is None


def read(name):
    with open(os.path.join(SOURCE, name), encoding="utf-8") as stream:
        return stream.read()


def files(folders, endings):
    for folder in folders:
        for path, inner, names in sorted(os.walk(os.path.join(SOURCE, folder))):
            for name in sorted(names):
                if name.endswith(endings):
                    yield os.path.relpath(os.path.join(path, name), SOURCE)


def problem_of(name, text, raw):
    """Returns the fault of a message, or None."""
    first = re.match(r"[A-Za-z]+", text)
    word = first.group(0) if first else ""
    if word[:1].isupper() and word not in NAMES:
        return "begins with a capital letter"
    if word.lower() in PRONOUNS and not name.startswith(FRAGMENTS):
        return f"begins with '{word}': name the thing"
    if text.endswith(".") and not text.endswith("..."):
        return "ends with a period"
    if vague := VAGUE.search(text):
        return f"says '{vague.group(0).strip(' :;,(')}': name the thing"
    return "shows a number of bytes without commas" if raw else None


def phrases_in_cpp(text):
    """Yields the phrases that a fuzzer looks for in what the compiler has said."""
    yield from re.findall(r'(?:said|\(diagnostics\))\.contains\(\s*"([^"]+)"', text)
    for table in re.findall(r"kRefusals\[\] = \{(.*?)\};", text, re.S):
        yield from re.findall(r'"([^"]+)"', table)


def phrases_in_python(text):
    """Yields the phrases and patterns that a script looks for in what a tool has said."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and node.args:
            called = ast.unparse(node.func)
            reads = called.startswith("re.") and len(node.args) > 1 and HEARD.search(ast.unparse(node.args[1]))
            found = node.args[1] if called == "refuses" else node.args[0] if reads else None
            found = found.args[0] if isinstance(found, ast.Call) and found.args else found
        else:
            found = node.left if isinstance(node, ast.Compare) and HEARD.search(ast.unparse(node.comparators[0])) else None
        yield from filter(None, [python_text(found)] if found is not None else [])


def parts_of(phrase):
    """Yields the parts of a phrase that are fixed words: without names, numbers and signs of patterns."""
    plain = re.sub(r"'[^']*'|\S*[^A-Za-z '\-,;]\S*", "\n", phrase)
    yield from (part.strip(" ,;'") for part in plain.split("\n") if len(re.findall("[A-Za-z]{2,}", part)) > 2)


def unknown_phrases(lines):
    """Returns a failure for each phrase with words that stand in no message."""
    known = "\n".join(re.sub(r"\{\}|[{}|']", "\n", line) for line in lines)
    phrases = [(name, phrase) for name in files(READERS, (".cpp",)) for phrase in phrases_in_cpp(read(name))]
    phrases += [(name, phrase) for name in files(READERS, (".py",)) for phrase in phrases_in_python(read(name))]
    return len(phrases), [f'{name}: "{part}" stands in no message of {LIST}' for name, phrase in phrases for part in parts_of(phrase) if part not in known]


def main(arguments):
    found = sorted(set(cpp_messages()) | set(python_messages()))
    lines, folder = [], None
    for where, kind, text in sorted({(where, kind, text) for where, kind, text, _, _ in found}):
        if where != folder:
            lines += [f"== {where}"]
            folder = where
        lines.append(f"{kind}: {text}")
    failures = [f"{name}: \"{text}\" {problem_of(name, text, raw)}" for _, _, text, name, raw in found if problem_of(name, text, raw)]
    if "--update" in arguments:
        with open(os.path.join(SOURCE, LIST), "w", encoding="utf-8") as stream:
            stream.write("\n".join(lines) + "\n")
    kept = read(LIST).splitlines() if os.path.exists(os.path.join(SOURCE, LIST)) else []
    if kept != lines:
        failures.append(f"{LIST} is stale; run: utils/check-messages.py build --update")
        print("\n".join(difflib.unified_diff(kept, lines, "checked in", "in the sources", lineterm="", n=0)))
    count, unknown = unknown_phrases(lines)
    failures += unknown
    for failure in failures:
        print("failed:", failure)
    print(f"{len(found) + count + 1 - len(failures)} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
