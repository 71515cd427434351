"""The sources that are changed, with their mutations, each of which has a number."""
import collections
import glob
import hashlib
import json
import os

import mutations
from mutations import mutations_of
from switches import Mutation, flat

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
MOST_OF_A_SOURCE = 2000

# What a mutation is called where people read it; without the line, it is the same next week.
Change = collections.namedtuple("Change", "name line before after")


class Source:
    def __init__(self, folder, name, first):
        self.folder, self.name, self.first = folder, name, first
        with open(os.path.join(ROOT, name), encoding="latin-1") as file:
            self.text = file.read()
        self.mutations = {}  # by number

    def find(self, folder, path, arguments):
        """Itself, with all mutations that there are. They are kept in the folder for the next run,
        under what they follow from, but for headers: clang takes seconds to find them."""
        kept = os.path.join(folder, self.digest())
        if os.path.exists(kept):
            with open(kept, encoding="ascii") as file:
                found = [Mutation(*each) for each in json.load(file)]
        else:
            found = mutations_of(path, self.text, arguments)
            with open(kept, "w", encoding="ascii") as file:
                json.dump(found, file)
        assert len(found) < MOST_OF_A_SOURCE, self.name
        self.mutations = dict(enumerate(found, self.first))
        return self

    def digest(self):
        with open(mutations.__file__, encoding="latin-1") as code:
            return hashlib.sha256((code.read() + self.text).encode("latin-1")).hexdigest()

    def change(self, number):
        each = self.mutations[number]
        begin = self.text.rfind("\n", 0, each.begin) + 1
        end = self.text.find("\n", each.end)
        before, after = (
            " ".join(flat(self.text[begin:each.begin] + middle + self.text[each.end:end]).split())
            .encode("latin-1").decode() for middle in (self.text[each.begin:each.end],
                                                       each.instead))
        return Change(self.name, self.text.count("\n", 0, each.begin) + 1, before, after)

    def keep(self, wanted):
        """Only the mutations of which wanted(change) holds."""
        self.mutations = {number: each for number, each in self.mutations.items()
                          if wanted(self.change(number))}


def same(change):
    """What is equal when it is the same mutation, wherever it stands now."""
    return change.name, change.before, change.after


def sources_of(folders, chosen):
    """Those of the chosen folders; numbers are the same whichever are chosen, so that what is
    compiled stays the same."""
    out = []
    for folder in folders:
        paths = glob.glob(os.path.join(ROOT, folder, "**", "*.cpp"), recursive=True)
        out += [(folder, os.path.relpath(path, ROOT)) for path in sorted(paths)]
    return [Source(folder, name, number * MOST_OF_A_SOURCE)
            for number, (folder, name) in enumerate(out) if folder in chosen]
