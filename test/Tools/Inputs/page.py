"""Checks that a page holds the JSON of a report, and nothing that ends it early: page.py PAGE JSON"""
import json
import re
import sys

page, report = sys.argv[1:]
text = open(page).read()
found = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
if len(found) != 1 or "<" in found[0] or json.loads(found[0]) != json.load(open(report)):
    sys.exit(f"{page} does not hold {report}")
