#!/usr/bin/env python3
"""The pages of reprise-compile: complete, self-contained, one mark per plan; drawn by Chromium if it is found."""

import html.parser
import json
import pathlib
import re
import shutil
import subprocess

from checks import check, finish, skip, tool, zoo

VOID = {"meta", "br"}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


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


def read(name):
    text = pathlib.Path(name).read_text()
    page = Page(text)
    check(f"{name} parses", not page.mistakes, "; ".join(page.mistakes))
    leads = page.outside + re.findall(r"https?:|@import|<script .*src", text)
    check(f"{name} holds all that it needs", not leads, str(leads))
    return page


def draw(browser, name, page):
    """The browser sees the elements that the parser sees, and draws more than an empty page."""
    common = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=profile"]
    address = pathlib.Path(name).absolute().as_uri()
    done = subprocess.run([*common, "--dump-dom", address], capture_output=True, text=True, timeout=120)
    seen = Page(done.stdout)
    kept = ("svg", "circle", "path", "rect", "polyline", "text", "details", "td", "figure")
    check(f"{name} is the same in {browser}",
          done.returncode == 0 and all(seen.elements.get(tag) == page.elements.get(tag) for tag in kept), str(seen.elements))
    for width in (1200, 500):
        picture = pathlib.Path(f"{name}-{width}.png")
        subprocess.run([*common, f"--window-size={width},1000", f"--screenshot={picture.absolute()}", address],
                       capture_output=True, timeout=120)
        check(f"{name} is drawn at {width} px", picture.exists() and picture.stat().st_size > 20000)
    script(browser, common, name)


# Script that reads the page; the answers stand in its title. A button's action needs no mouse event.
PROBE = """<script>
const answers = {wide: document.documentElement.scrollWidth - document.documentElement.clientWidth};
const table = [...document.querySelectorAll('table.data')].pop();
const column = [...table.tHead.rows[0].cells].findIndex(cell => cell.textContent === 'bytes');
const bytes = () => [...table.tBodies[0].rows].map(row => +row.cells[column].dataset.value);
const isSorted = (values, sign) => values.every((value, i) => i === 0 || sign * (value - values[i - 1]) >= 0);
table.tHead.rows[0].cells[column].click();
answers.falling = isSorted(bytes(), -1);
table.tHead.rows[0].cells[column].click();
answers.rising = isSorted(bytes(), 1);
const input = [...document.querySelectorAll('input[type=search]')].pop();
if (input) {
  input.value = 'layer/1 saved';
  input.oninput();
  const shown = [...table.querySelectorAll('tbody tr:not([hidden])')];
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
</script></body>"""


def script(browser, common, name):
    """Checks sorting, filters, pins and zoom, at 500 px, where no element may overflow."""
    probe = pathlib.Path("probe.html")
    probe.write_text(pathlib.Path(name).read_text().replace("</body>", PROBE))
    done = subprocess.run([*common, "--window-size=500,1000", "--dump-dom", probe.absolute().as_uri()], capture_output=True,
                          text=True, timeout=120)
    found = re.search(r"<title>(.*?)</title>", done.stdout)
    answers = json.loads(html.unescape(found.group(1))) if found and found.group(1).startswith("{") else {}
    check(f"{name} is no wider than 500 px", answers.pop("wide", None) == 0, done.stdout[:500])
    expected = {"falling", "rising"} | ({"pinned", "zoomed", "filtered"} if name == "report.html" else set())
    for answer in sorted(expected):
        check(f"{name}: {answer}", answers.get(answer) is True, str(answers))


def main():
    zoo("gpt2.mlir", "gpt2", "--layers=2", "--width=32", "--heads=2", "--seq=16", "--batch=2", "--vocab=32")
    common = ("reprise-compile", "gpt2.mlir", "--threads=2")
    tool(*common, "--pareto=curve.json")
    tool(*common, "--pareto=curve.html")
    tool(*common, "-o", "a.rpb", "--budget=60%", "--policy=save-all", "--report=report.json", "--report=report.html")
    curve, report = (json.loads(pathlib.Path(name).read_text()) for name in ("curve.json", "report.json"))
    pages = {name: read(name) for name in ("curve.html", "report.html")}

    found = pages["curve.html"]
    check("one dot per plan", found.classes.get("plan") == len(curve["points"]), str(found.classes))
    check("a ring for the plan without a budget", found.classes.get("default") == 1 and "default" in curve)
    check("one diamond per policy", found.classes.get("policy") == len(curve["policies"]), str(found.classes))
    check("a line of plans and one of bounds", found.classes.get("cost") == found.classes.get("bound") == 1)
    check("one row per plan and policy", found.elements["tr"] == 2 + len(curve["points"]) + len(curve["policies"]))

    found, text = pages["report.html"], pathlib.Path("report.html").read_text()
    layers = {value["layer"] for value in report["values"]}
    check("one box per buffer", found.elements["rect"] == len(report["buffers"]), str(found.elements))
    check("two bars per layer", text.count("<span class='saved' style") == text.count("<span class='replay' style") == len(layers))
    check("one row per value", text.count("<table class='data'>") == 2 and all(
        html.escape(value["id"]) in text for value in report["values"]))
    check("the head tells what was compiled", "<h1>gpt2 @train: " in text and re.search(
        r"class='about'>cpu:[^,]*, 2 threads, policy save-all, budget [0-9.]+ .iB\. Reprise [0-9.]+<", text))
    check("the backward pass and the peak are marked", found.classes.get("backward-pass") == found.classes.get("peak") == 2)
    check("replays are told from what the backward pass makes", found.classes.get("replay", 0) > 1 + len(layers))
    live = [int(y) for y in re.findall(r"V([0-9]+)", re.search(r"class='live saved' d='([^']*)'", text).group(1))]
    check("the live bytes reach the arena and never exceed it", 0 <= min(live) <= 10, str(min(live)))
    for key in ("arena_bytes", "persistent_bytes", "workspace_bytes", "saved_bytes", "replayed_ops"):
        check(f"{key} is told in words", key not in re.sub("<style>.*?</style>", "", text, flags=re.S))
    overridden = [value for value in report["values"] if value["reason"] == "budget"]
    check("what the budget overrides is told", f"{len(overridden)} values whose PREFER the budget overrides" in text)
    check("the cost is told", re.search(r"cost [-+−][0-9.]+ % compared with no budget[^<]*; ([0-9.]+ percentage points of the cost|no plan)", text))

    browser = next(filter(shutil.which, BROWSERS), None)
    for name, page in pages.items():
        if browser:
            draw(browser, name, page)
        else:
            skip(name, "no Chromium to draw it")
    finish()


main()
