"""Puts mutations into a source, each switched on when the program starts. Pure: text in, text out.

An expression x that may become y is written (sluice::mutant::on(7) ? y : (x)), on the same lines as
before. What is in x is written so in turn; y is as the source has it, because one mutation is on at
a time.
"""
import collections
import itertools
import re

# An expression: text[begin:end] becomes `instead`. kind: "swap", "constant", "branch" or "call".
Mutation = collections.namedtuple("Mutation", "kind begin end instead")

HEADER = '#include "tests/mutate/mutant.hpp"\n'  # one line more than the source has
# What both sides are converted to, so that they are of one type.
TYPES = {"branch": "bool", "call": "void"}


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


def flat(text):
    """On one line, without comments."""
    return without_comments(text).replace("\n", " ")


class Switched:
    """`text` of a source with all of `mutations`, {number: Mutation}."""

    def __init__(self, source, mutations):
        self.source = source
        self.pieces = [HEADER]
        self.length = len(HEADER)
        self.alternatives = []  # (begin, end, [number])
        self.groups = []  # (begin, end, [number, …]) of all that change one expression
        self.first_lines = {number: source.count("\n", 0, each.begin)
                            for number, each in mutations.items()}
        self.last_lines = {number: source.count("\n", 0, each.end)
                           for number, each in mutations.items()}
        ordered = sorted(mutations.items(), key=lambda each: (each[1].begin, -each[1].end, each[0]))
        self.put_all(0, len(source), [
            list(group) for _, group in
            itertools.groupby(ordered, key=lambda each: (each[1].begin, each[1].end))])
        self.text = "".join(self.pieces)
        self.lines = [0] + [found.end() for found in re.finditer("\n", self.text)]

    def put(self, text):
        self.pieces.append(text)
        self.length += len(text)

    def put_all(self, begin, end, groups):
        """source[begin:end]; `groups` are those within, from the outside inwards."""
        at = 0
        while at < len(groups):
            first = groups[at][0][1]
            inner = at + 1
            while inner < len(groups) and groups[inner][0][1].begin < first.end:
                inner += 1
            self.put(self.source[begin:first.begin])
            self.put_group(groups[at], groups[at + 1:inner])
            begin = first.end
            at = inner
        self.put(self.source[begin:end])

    def put_group(self, group, inside):
        began = self.length
        kinds = {TYPES.get(each.kind, "") for _, each in group} - {""}
        wanted = "".join(kinds)  # at most one: what branches is no statement
        self.put("(")
        for number, each in group:
            self.put(f"sluice::mutant::on({number}) ? ")
            start = self.length
            self.put(f"{wanted}({flat(each.instead)})")
            self.alternatives.append((start, self.length, [number]))
            self.put(" : ")
        first = group[0][1]
        self.put(wanted + "(")
        self.put_all(first.begin, first.end, inside)
        self.put("))")
        self.groups.append((began, self.length, [number for number, _ in group]))

    def blamed(self, line, column):
        """Those that a message of the compiler at this place, counted from 1, is about."""
        at = self.lines[line - 1] + column - 1
        for spans in (self.alternatives, self.groups):
            around = [each for each in spans if each[0] <= at < each[1]]
            if around:
                return min(around, key=lambda each: each[1] - each[0])[2]
        line -= 2  # the header's; and from 0
        return [number for number, first in self.first_lines.items()
                if first <= line <= self.last_lines[number]]
