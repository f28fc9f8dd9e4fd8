#!/usr/bin/env python3
"""The pages of reports, curves and schedules: each holds the JSON of its report, and Chromium, if it is found, draws one mark per entry."""

import html.parser
import json
import pathlib
import random
import re
import shutil
import subprocess

from checks import check, finish, skip, tool, zoo

VOID = {"meta", "br", "input"}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
DATA = re.compile(r'(<script type="application/json" id="data">)(.*?)(?=</script>)', re.S)
#: Keys of the top level that the page leaves to programs.
NOT_SHOWN = {"version", "bound", "contractions", "cost_increase", "device", "gap", "schedule"}


class Page(html.parser.HTMLParser):
    """Parser that counts elements and classes, and notes elements that are not closed and links out of the page."""

    def __init__(self, text):
        super().__init__()
        self.open, self.mistakes, self.elements, self.classes, self.outside = [], [], {}, {}, []
        self.feed(text)
        self.close()
        self.mistakes += [f"{tag} is not closed" for tag in self.open]

    def handle_starttag(self, tag, attributes):
        self.count(tag, attributes)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.count(tag, attributes)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.mistakes.append(f"</{tag}> at {self.getpos()}")

    def count(self, tag, attributes):
        self.elements[tag] = self.elements.get(tag, 0) + 1
        for name, value in attributes:
            if name == "class":
                for word in value.split():
                    self.classes[word] = self.classes.get(word, 0) + 1
            if name in ("src", "href", "xlink:href", "action", "data") or "url(" in (value or ""):
                self.outside.append(f"{name}={value}")


def read(name, data):
    """Checks a page without a browser; returns its text."""
    text = pathlib.Path(name).read_text()
    page = Page(text)
    check(f"{name} parses", not page.mistakes, "; ".join(page.mistakes))
    leads = page.outside + re.findall(r"https?:(?!//www.w3.org/2000/svg)|@import|<script .*src|innerHTML", text)
    check(f"{name} holds all that it needs", not leads, str(leads))
    found = DATA.findall(text)
    check(f"{name} holds its JSON", len(found) == 1 and json.loads(found[0][1]) == data)
    script = text.rpartition("<script>")[2]
    silent = {key for key in data if not re.search(rf"\b{key}\b", script)} - NOT_SHOWN
    check(f"the script of {name} shows every key", not silent, str(silent))
    return text


class Browser:
    """Chromium without a window."""

    def __init__(self, program):
        self.common = [program, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=profile"]

    def load(self, name, width=1200):
        """Returns the document after its scripts have run."""
        done = subprocess.run([*self.common, f"--window-size={width},1000", "--dump-dom",
                               pathlib.Path(name).absolute().as_uri()], capture_output=True, text=True, timeout=120)
        return done.stdout

    def draw(self, name):
        for width in (1400, 500):
            picture = pathlib.Path(f"{name}-{width}.png")
            subprocess.run([*self.common, f"--window-size={width},1000", f"--screenshot={picture.absolute()}",
                            pathlib.Path(name).absolute().as_uri()], capture_output=True, timeout=120)
            check(f"{name} is drawn at {width} px", picture.exists() and picture.stat().st_size > 5000)

    def ask(self, text, probe, width=500):
        """Returns the answers of a script at the end of a page: the title of the document, as JSON."""
        pathlib.Path("probe.html").write_text(text.replace("</body>", f"<script>{probe}</script></body>"))
        found = re.search(r"<title>(.*?)</title>", self.load("probe.html", width))
        return json.loads(html.unescape(found.group(1))) if found and found.group(1).startswith("{") else {}


# Sorts, filters, pins and zooms. A button's action needs no mouse event.
PROBE = """
const answers = {wide: document.documentElement.scrollWidth - document.documentElement.clientWidth};
const made = [...document.querySelectorAll('table.data')].pop();
const column = [...made.tHead.rows[0].cells].findIndex(cell => /bytes/.test(cell.textContent));
const bytes = () => [...made.tBodies[0].rows].map(row => +row.cells[column].dataset.value);
const isSorted = (values, sign) => values.every((value, i) => i === 0 || sign * (value - values[i - 1]) >= 0);
made.tHead.rows[0].cells[column].click();
answers.falling = isSorted(bytes(), -1);
made.tHead.rows[0].cells[column].click();
answers.rising = isSorted(bytes(), 1);
const input = [...document.querySelectorAll('input[type=search]')].pop();
if (input) {
  input.value = 'layer/1 saved';
  input.oninput();
  const shown = [...made.querySelectorAll('tbody tr:not([hidden])')];
  answers.filtered = shown.length > 0 && shown.every(row => /layer.1/.test(row.textContent));
}
const figure = document.querySelector('figure'), plot = figure && figure.querySelector('.plot');
if (figure) {
  const box = plot.querySelector('rect'), press = {bubbles: true, clientX: box.getBoundingClientRect().x + 1};
  box.dispatchEvent(new PointerEvent('pointerdown', press));
  box.dispatchEvent(new PointerEvent('pointerup', press));
  answers.pinned = box.classList.contains('pinned') &&
      figure.querySelector('.info').textContent === box.querySelector('title').textContent;
  const before = plot.querySelector('svg').getAttribute('viewBox');
  figure.querySelector('button').click();
  answers.zoomed = plot.querySelector('svg').getAttribute('viewBox') !== before;
}
document.title = JSON.stringify(answers);
"""

# Draws many curves, and counts texts that lie on each other, and labels that were left out.
LABELS = """
const answers = {overlaps: 0, labels: 0};
for (const curve of CURVES) {
  show(curve);
  const texts = [...document.querySelectorAll('.chart text')].map(text => [text.textContent, text.getBBox()]);
  texts.forEach(([, a], i) => texts.slice(0, i).forEach(([, b]) => {
    answers.overlaps += a.x < b.x + b.width && b.x < a.x + a.width && a.y + 2 < b.y + b.height && b.y + 2 < a.y + a.height;
  }));
  answers.labels += texts.filter(([text]) => ['save-all', 'recompute-all', 'without a budget'].includes(text)).length;
}
document.title = JSON.stringify(answers);
"""


def make_curve(curve, chance):
    """Returns a curve whose points lie near each other as often as not."""
    spread, most = 10 ** (-3 * chance.random()), 2 ** (10 + 30 * chance.random())

    def draw(**more):
        point = {"bytes": int(most * (1 - spread * chance.random())), "cost_increase": spread * chance.random()}
        return {**point, "arena_bytes": point["bytes"], "workspace_bytes": 0, "overridden_bytes": 0, "summary": "", **more}

    points = [draw(bound=0, gap=0) for _ in range(chance.randrange(1, 22))]
    return {**curve, "save_all_bytes": int(most), "points": points, "default": draw(),
            "policies": [draw(policy=point["policy"]) for point in curve["policies"]]}


def check_curve(browser, text, curve):
    found = Page(browser.load("curve.html"))
    check("one dot per plan", found.classes.get("plan") == len(curve["points"]), str(found.classes))
    check("a ring for the plan without a budget", found.classes.get("default") == 1 and "default" in curve)
    check("one diamond per policy", found.classes.get("policy") == len(curve["policies"]), str(found.classes))
    check("a line of plans and one of bounds", found.classes.get("cost") == found.classes.get("bound") == 1)
    check("one row per plan and policy", found.elements["tr"] == 2 + len(curve["points"]) + len(curve["policies"]))
    chance = random.Random(1)
    curves = [make_curve(curve, chance) for _ in range(100)]
    answers = browser.ask(text, LABELS.replace("CURVES", json.dumps(curves)))
    check("no two labels lie on each other", answers.get("overlaps") == 0, str(answers))
    check("nearly all marks have their label", answers.get("labels", 0) > 280, str(answers))


def check_report(browser, report):
    text = browser.load("report.html")
    found, text = Page(text), text.partition("<main>")[2].partition("</main>")[0]
    layers = {value["layer"] for value in report["values"]}
    check("one box per buffer", found.elements["rect"] == len(report["buffers"]), str(found.elements))
    check("two bars per layer", len(re.findall('<span class="(?:saved|replay)"', text)) == 2 * len(layers))
    check("one row per value", all(html.escape(value["id"]) in text for value in report["values"]))
    check("the head tells what was compiled", "<h1>gpt2 @train: " in text and re.search(
        r'class="about">cpu:[^,]*, 2 threads, policy save-all, budget [0-9.]+ .iB\. Reprise [0-9.]+<', text))
    check("the backward pass and the peak are marked", found.classes.get("backward-pass") == found.classes.get("peak") == 2)
    check("replays are told from what the backward pass makes", found.classes.get("replay", 0) > 1 + len(layers))
    live = [float(y) for y in re.findall(r"V([0-9.]+)", re.search(r'class="live saved" d="([^"]*)"', text).group(1))]
    check("the live bytes reach the arena and never exceed it", 0 <= min(live) <= 10, str(min(live)))
    for key in report:
        check(f"{key} is told in words", "_" not in key or key not in text)
    overridden = [value for value in report["values"] if value["reason"] == "budget"]
    check("what the budget overrides is told", f"{len(overridden)} values whose PREFER the budget overrides" in text)
    check("the cost is told", f"<b>{report['cost_summary']}</b>" in text)


def check_pipeline(browser, report):
    found = Page(browser.load("stages.html"))
    passes = sum(len(rank["passes"]) for rank in report["pipeline"]["ranks"])
    buffers = sum(len(program["buffers"]) for program in report["programs"])
    check("one box per pass, and one behind them", found.elements["rect"] == passes + 1 + buffers, str(found.elements))
    check("one figure per device", found.elements["figure"] == len(report["programs"]) == 2)


def make_page(name, data, *command):
    for ending in ("json", "html"):
        tool("reprise-compile", *command, f"{data}={name}.{ending}")
    report = json.loads(pathlib.Path(f"{name}.json").read_text())
    return report, read(f"{name}.html", report)


def main():
    zoo("gpt2.mlir", "gpt2", "--layers=2", "--width=32", "--heads=2", "--seq=16", "--batch=2", "--vocab=32")
    curve, curve_text = make_page("curve", "--pareto", "gpt2.mlir", "--threads=2")
    report, report_text = make_page("report", "--report", "gpt2.mlir", "--threads=2", "-o", "a.rpb", "--budget=60%",
                                    "--policy=save-all")
    stages, stages_text = make_page("stages", "--report", "gpt2.mlir", "-o", "b.rpb", "--stages=2", "--microbatches=2")
    program = next(filter(shutil.which, BROWSERS), None)
    if not program:
        skip("the drawing of pages", "no Chromium")
        finish()
    browser = Browser(program)
    check_curve(browser, curve_text, curve)
    check_report(browser, report)
    check_pipeline(browser, stages)
    for name, text in (("curve", curve_text), ("report", report_text), ("stages", stages_text)):
        browser.draw(f"{name}.html")
        answers = browser.ask(text, PROBE)
        check(f"{name} is no wider than 500 px", answers.pop("wide", None) == 0, str(answers))
        for answer in ("falling", "rising", *(("pinned", "zoomed", "filtered") if name == "report" else ())):
            check(f"{name}: {answer}", answers.get(answer) is True, str(answers))
    hostile = {**report, "model": "<img src=x onerror=document.title=1>", "entry": "</script><b>"}
    data = json.dumps(hostile).replace("<", "\\u003c")
    pathlib.Path("hostile.html").write_text(DATA.sub(lambda found: found[1] + data, report_text))
    found = Page(browser.load("hostile.html"))
    check("names are no markup", "img" not in found.elements and found.elements["h1"] == 1 and not found.mistakes,
          str(found.mistakes))
    finish()


main()
