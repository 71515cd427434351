"""Every annotation, label and finalizer name in the sources stands in the table of docs/access.md,
which says who may set it and why that is safe. A new name without a row fails here."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else ".").resolve()
NAME = re.compile(r'"([a-z0-9.-]*(?:kueue\.x-k8s\.io|sluice\.dev)/[a-z0-9./-]*)"')
VERSION = re.compile(r"/v\d+((alpha|beta)\d+)?$")
# Not names on objects: a value in an old API version, and the beginnings of names.
OTHERS = {"kueue.x-k8s.io/workloadpriorityclass", "kueue.x-k8s.io/provisioning-request",
          "sluice.dev/", "kueue.x-k8s.io/", "visibility.kueue.x-k8s.io/"}


def names_in_sources():
    for folder in ("api", "core", "host", "plugins"):
        for path in sorted((ROOT / folder).rglob("*.[ch]pp")):
            if "tests" in path.relative_to(ROOT).parts:
                continue
            for name in NAME.findall(path.read_text()):
                if not VERSION.search(name) and name not in OTHERS:
                    yield name, path.relative_to(ROOT)


class A3Authority(unittest.TestCase):
    def test_every_name_has_a_row(self):
        page = (ROOT / "docs" / "access.md").read_text()
        rows = "\n".join(line for line in page.splitlines() if line.startswith("|"))
        documented = re.findall(r"`([^`]+)`", rows)
        patterns = [name[:-1] for name in documented if name.endswith("…")]
        missing = {}
        for name, path in names_in_sources():
            known = name in documented or any(name.startswith(p) for p in patterns)
            if not known:
                missing.setdefault(name, str(path))
        self.assertEqual(missing, {}, "names without a row in docs/access.md, and where they are")


if __name__ == "__main__":
    unittest.main()
