#!/usr/bin/env python3
"""The pages of reprise-compile: whole, self-contained, one mark per plan; drawn by Chromium where it is found."""

import html.parser
import json
import pathlib
import re
import shutil
import subprocess

from checks import check, finish, skip, tool, zoo

VOID = {"meta"}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class Page(html.parser.HTMLParser):
    """Counts elements and classes, and notes what is not closed or leads out of the page."""

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
                self.classes[value] = self.classes.get(value, 0) + 1
            if name in ("src", "href", "xlink:href", "action", "data") or "url(" in (value or ""):
                self.outside.append(f"{name}={value}")


def read(name):
    text = pathlib.Path(name).read_text()
    page = Page(text)
    check(f"{name} parses", not page.mistakes, "; ".join(page.mistakes))
    leads = page.outside + re.findall(r"https?:|@import|<script", text)
    check(f"{name} holds all that it needs", not leads, str(leads))
    return page


def draw(browser, name, page):
    """The browser sees the elements that the parser sees, and draws more than an empty page."""
    common = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=profile"]
    address = pathlib.Path(name).absolute().as_uri()
    done = subprocess.run([*common, "--dump-dom", address], capture_output=True, text=True, timeout=120)
    seen = Page(done.stdout)
    kept = ("svg", "circle", "path", "rect", "polyline", "text", "details", "td")
    check(f"{name} is the same in {browser}",
          done.returncode == 0 and all(seen.elements.get(tag) == page.elements.get(tag) for tag in kept), str(seen.elements))
    picture = pathlib.Path(name + ".png")
    subprocess.run([*common, f"--screenshot={picture.absolute()}", address], capture_output=True, timeout=120)
    check(f"{name} is drawn", picture.exists() and picture.stat().st_size > 20000)


def main():
    zoo("gpt2.mlir", "gpt2", "--layers=2", "--width=32", "--heads=2", "--seq=16", "--batch=2", "--vocab=32")
    common = ("reprise-compile", "gpt2.mlir", "--threads=2")
    tool(*common, "--pareto=curve.json")
    tool(*common, "--pareto=curve.html")
    tool(*common, "-o", "a.rpb", "--budget=60%", "--policy=save-all", "--report=report.json", "--report=report.html")
    curve, report = (json.loads(pathlib.Path(name).read_text()) for name in ("curve.json", "report.json"))
    pages = {name: read(name) for name in ("curve.html", "report.html")}

    found = pages["curve.html"]
    check("one dot per plan", found.classes.get("plan") == found.elements["circle"] == len(curve["points"]), str(found.classes))
    check("one diamond per policy", found.classes.get("policy") == len(curve["policies"]), str(found.classes))
    check("a line of plans and one of bounds", found.classes.get("cost") == found.classes.get("bound") == 1)
    check("one row per plan and policy", found.elements["tr"] == 1 + len(curve["points"]) + len(curve["policies"]))

    found, text = pages["report.html"], pathlib.Path("report.html").read_text()
    layers = {value["layer"] for value in report["values"]}
    check("one box per buffer, two bars per layer", found.elements["rect"] == 1 + len(report["buffers"]) + 2 * len(layers))
    overridden = [value for value in report["values"] if value["reason"] == "budget"]
    check("what the budget overrides is told", f"{len(overridden)} values whose PREFER the budget overrides" in text)
    check("the cost is told", re.search(r"cost \+[0-9.]+ % \(bound \+[0-9.]+ %, gap [0-9.]+ points\)", text))

    browser = next(filter(shutil.which, BROWSERS), None)
    for name, page in pages.items():
        if browser:
            draw(browser, name, page)
        else:
            skip(name, "no Chromium to draw it")
    finish()


main()
