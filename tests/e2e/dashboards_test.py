#!/usr/bin/env python3
"""Each metric and label that a panel of a dashboard or an alert uses is one of a live host, and
Prometheus understands every expression.

    dashboards_test.py --sluice build/dev/bin/sluice --docs docs --packaging packaging

What does not happen to one job in a few seconds (metrics_pages_test.RARE) has to be in the tables
of docs/metrics.md with its labels. Where promtool is not at hand, expressions are not parsed.
"""
import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import yaml

import metrics_pages_test as pages

METRIC = re.compile(r"\b(?:kueue|sluice|process)_[a-z0-9_]*[a-z0-9]\b")
SAMPLE = re.compile(r"^([a-z_0-9]+)(?:\{(.*)\})? \S+$")
LABEL = re.compile(r'([a-z_]+)="(?:[^"\\]|\\.)*"')
MATCHER = re.compile(r"([a-z_]+)\s*(?:=~|!~|!=|=)")
GROUP = re.compile(r"\b(?:by|on)\s*\(([a-z_, ]*)\)")
VALUES = re.compile(r"label_values\(([a-z_]+)(?:\{[^}]*\})?, ([a-z_]+)\)")
PROMETHEUS = {"instance", "job", "le"}  # given by whoever scrapes; by histograms


def labels_of(text):
    """By metric. A histogram is known by the names of its series, too."""
    out = {}
    for line in text.splitlines():
        sample = SAMPLE.match(line)
        if sample:
            out.setdefault(sample.group(1), set()).update(LABEL.findall(sample.group(2) or ""))
    return out


def rare_labels(page):
    """Those of the RARE metrics as the tables say: `| `a`, `…_b` | label, label: values | … |`."""
    out = {}
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) < 2:
            continue
        names = METRIC.findall(cells[0])
        labels = {re.split(r"[:;]", each)[0].strip() for each in cells[1].split(",")}
        for name in names:
            if name in pages.RARE:
                out[name] = labels | {"replica_role"}
    return out


def uses_of(expression):
    """(metric, labels in its braces) and the labels that groups and joins are made by."""
    uses = [(found.group(), set(MATCHER.findall(braces(expression, found.end()))))
            for found in METRIC.finditer(expression)]
    groups = {label.strip() for group in GROUP.findall(expression) for label in group.split(",")}
    return uses, groups - {""}


def braces(expression, at):
    if at >= len(expression) or expression[at] != "{":
        return ""
    return re.sub(r'"(?:[^"\\]|\\.)*"', '""', expression[at + 1:expression.index("}", at)])


def boards(folder):
    for path in sorted(glob.glob(os.path.join(folder, "grafana", "*.json"))):
        with open(path, encoding="utf-8") as text:
            yield os.path.basename(path), json.load(text)


def rules(folder):
    for path in sorted(glob.glob(os.path.join(folder, "prometheus", "*.yaml"))):
        with open(path, encoding="utf-8") as text:
            for group in yaml.safe_load(text)["groups"]:
                yield from group["rules"]


def targets(board):
    for panel in board["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target


class Dashboards(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        with open(os.path.join(cls.docs, "metrics.md"), encoding="utf-8") as text:
            cls.known = rare_labels(text.read())
        cls.known |= labels_of(pages.live_metrics(cls.sluice))
        cls.boards = list(boards(cls.packaging))
        cls.rules = list(rules(cls.packaging))

    def check(self, where, expression, shown=()):
        """`shown`: labels that the text beside it names."""
        uses, groups = uses_of(expression)
        self.assertTrue(uses, f"{where}: no metric in {expression}")
        everything = set(PROMETHEUS)
        for metric, labels in uses:
            self.assertTrue(metric in self.known, f"{where}: /metrics has no {metric}")
            self.assertLessEqual(labels, self.known[metric] | PROMETHEUS, f"{where}: {metric}")
            everything |= self.known[metric]
        self.assertLessEqual(groups, everything, f"{where}: {expression}")
        # What is grouped has no other labels left.
        left = groups if re.match(r"(?:[0-9]+ \* )?(?:sum|max|histogram_quantile)\b", expression) \
            else everything
        self.assertLessEqual(set(shown), left | {"instance"}, f"{where}: {expression}")

    def test_both_boards_are_there(self):
        self.assertEqual([name for name, _ in self.boards], ["operators.json", "teams.json"])
        self.assertEqual(len({board["uid"] for _, board in self.boards}), 2)
        for name, board in self.boards:
            ids = [panel["id"] for panel in board["panels"]]
            self.assertEqual(len(ids), len(set(ids)), name)

    def test_panels_use_what_a_host_has(self):
        for name, board in self.boards:
            for title, target in targets(board):
                shown = re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])
                with self.subTest(f"{name}: {title}"):
                    self.check(title, target["expr"], shown)

    def test_variables_use_what_a_host_has(self):
        for name, board in self.boards:
            variables = [each for each in board["templating"]["list"] if each["type"] == "query"]
            self.assertTrue(variables)
            for each in variables:
                metric, label = VALUES.match(each["query"]).groups()
                self.assertIn(label, self.known[metric], f"{name}: {each['name']}")
            used = {word for _, target in targets(board)
                    for word in re.findall(r"\$(\w+)", target["expr"])}
            self.assertEqual(used, {each["name"] for each in variables}, name)

    def test_alerts_use_what_a_host_has(self):
        self.assertTrue(self.rules)
        names = [rule["alert"] for rule in self.rules]
        self.assertEqual(len(names), len(set(names)))
        for rule in self.rules:
            with self.subTest(rule["alert"]):
                told = " ".join(rule["annotations"].values())
                self.check(rule["alert"], rule["expr"],
                           re.findall(r"\$labels\.(\w+)", told))
                self.assertIn(rule["labels"]["severity"], ("critical", "warning", "info"))

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not at hand (package prometheus)")
    def test_prometheus_understands_alerts_and_panels(self):
        found = glob.glob(os.path.join(self.packaging, "prometheus", "*.yaml"))
        panels = [{"record": "panel", "expr": re.sub(r"\$\w+", "x", target["expr"])}
                  for _, board in self.boards for _, target in targets(board)]
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as out:
            yaml.safe_dump({"groups": [{"name": f"{i}", "rules": [each]}
                                       for i, each in enumerate(panels)]}, out)
            out.flush()
            for path in (*found, out.name):
                done = subprocess.run(["promtool", "check", "rules", "--lint=none", path],
                                      capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not at hand (package prometheus)")
    def test_alerts_fire_when_they_should(self):
        cases = os.path.join(os.path.dirname(__file__), "..", "packaging", "alerts_test.yaml")
        with tempfile.TemporaryDirectory() as folder:
            for path in (cases, os.path.join(self.packaging, "prometheus", "sluice.yaml")):
                shutil.copy(path, folder)
            done = subprocess.run(["promtool", "test", "rules", "alerts_test.yaml"], cwd=folder,
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    parser.add_argument("--docs", required=True)
    parser.add_argument("--packaging", required=True)
    options, rest = parser.parse_known_args()
    Dashboards.sluice = os.path.abspath(options.sluice)
    Dashboards.docs = os.path.abspath(options.docs)
    Dashboards.packaging = os.path.abspath(options.packaging)
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
