#!/usr/bin/env python3
"""The crate for Rust: its own tests; the examples, and a plugin from each template of `sluice
plugin new --lang rust`, as their authors build them without a network, validated and asked by a
host that simulates; what the compiler is to refuse; and the page about it.

usage: rust_test.py --source . --sluice build/dev/bin/sluice --work FOLDER
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs"))
# pylint: disable=wrong-import-position
from snippets import dead_links

OPTIONS = argparse.ArgumentParser()
OPTIONS.add_argument("--source", required=True)
OPTIONS.add_argument("--sluice", required=True)
OPTIONS.add_argument("--work", required=True)
OPTIONS, LEFT = OPTIONS.parse_known_args()
SKIP = 77
NEEDED = (1, 82)
SOURCE, WORK = os.path.abspath(OPTIONS.source), os.path.abspath(OPTIONS.work)
SLUICE = os.path.abspath(OPTIONS.sluice)
SDK = os.path.join(SOURCE, "sdk", "rust")
TARGET = os.path.join(WORK, "target")
KINDS = ("check", "flavor-filter", "validator")
PAGE = os.path.join(SOURCE, "docs", "plugins", "rust.md")
QUEUE = "kueue.x-k8s.io/v1beta2"


def run(*command, folder=WORK, failing=False, **environment):
    """What the command prints. `failing`: it must fail."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False,
                          env=os.environ | {"CARGO_NET_OFFLINE": "true",
                                            "CARGO_TARGET_DIR": TARGET} | environment)
    if (done.returncode != 0) != failing:
        raise AssertionError(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def copied(path, name):
    """A copy to build in: Cargo writes beside what it builds."""
    folder = os.path.join(WORK, name)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(path, folder, ignore=shutil.ignore_patterns("target"))
    return folder


def example(folder_name):
    """A copy of an example, with the crate where it really is."""
    folder = copied(os.path.join(SOURCE, "examples", "plugins", folder_name), folder_name)
    changed(os.path.join(folder, "Cargo.toml"), "../../../sdk/rust", SDK)
    return folder


def changed(path, before, after):
    """The file with the text in place of the other, which has to be there."""
    with open(path, encoding="utf-8") as text:
        told = text.read()
    assert before in told, f"{path} has no {before}"
    with open(path, "w", encoding="utf-8") as text:
        text.write(told.replace(before, after))


def checked(folder):
    """Formatted, without warnings, tested; then the library, under the name that it has to have."""
    run("cargo", "fmt", "--check", folder=folder)
    run("cargo", "test", "--quiet", folder=folder, RUSTFLAGS="-Dwarnings")
    run("cargo", "build", "--release", folder=folder)
    with open(os.path.join(folder, "Cargo.toml"), encoding="utf-8") as text:
        name = re.search(r'^name = "(.*)"$', text.read(), re.MULTILINE).group(1)
    library = os.path.join(folder, name + ".so")
    shutil.copy(os.path.join(TARGET, "release", f"lib{name.replace('-', '_')}.so"), library)
    return name, library


def written(name, kind):
    """The folder of `sluice plugin new`, with the crate where it is."""
    folder = os.path.join(WORK, name)
    shutil.rmtree(folder, ignore_errors=True)
    said = run(SLUICE, "plugin", "new", name, "--lang", "rust", "--kind", kind)
    assert "cargo add sluice-plugin" in said, said
    run("cargo", "add", "sluice-plugin", "--path", SDK, folder=folder)
    return folder


def simulated(library, name, config, objects, **entry):
    """What `sluice simulate` says of these objects with that plugin."""
    host = os.path.join(WORK, name + ".yaml")
    with open(host, "w", encoding="utf-8") as text:
        text.write(json.dumps({
            "apiVersion": "config.sluice.dev/v1alpha1", "kind": "Configuration",
            "store": {"path": "memory"},
            "plugins": {"directory": os.path.dirname(library),
                        "load": [{"name": name, "config": config} | entry]}}))
    path = os.path.join(WORK, name + "-objects.yaml")
    with open(path, "w", encoding="utf-8") as text:
        text.write("".join(f"---\n{json.dumps(each)}\n" for each in objects))
    return run(SLUICE, "simulate", "--config", host, path)


def of(kind, name, namespace=None, labels=None, **more):
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": QUEUE, "kind": kind,
            "metadata": metadata | ({"labels": labels} if labels else {})} | more


def world(flavors, check=None):
    """Flavors in that order, a queue, and a check that answers to a name."""
    checks = {"admissionChecksStrategy": {"admissionChecks": [{"name": "ask"}]}} if check else {}
    yield from (of("ResourceFlavor", flavor) for flavor in flavors)
    if check:
        yield of("AdmissionCheck", "ask", spec={"controllerName": check})
    yield of("ClusterQueue", "shared", spec=checks | {
        "namespaceSelector": {},
        "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [
            {"name": flavor, "resources": [{"name": "cpu", "nominalQuota": 8}]}
            for flavor in flavors]}]})
    yield of("LocalQueue", "work", "default", spec={"clusterQueue": "shared"})


def workload(name, **labels):
    container = {"name": "c", "image": "train", "resources": {"requests": {"cpu": "1"}}}
    return of("Workload", name, "default", labels, spec={"queueName": "work", "podSets": [
        {"name": "main", "count": 1, "template": {
            "spec": {"restartPolicy": "Never", "containers": [container]}}}]})


class Crate(unittest.TestCase):
    def test_its_own_tests(self):
        # As it is installed: the tests compare the structs with the headers that came with it.
        prefix = os.path.join(WORK, "prefix")
        shutil.rmtree(prefix, ignore_errors=True)
        run("cmake", "-S", os.path.join(SOURCE, "sdk"), "-B", os.path.join(WORK, "sdk-build"))
        run("cmake", "--install", os.path.join(WORK, "sdk-build"), "--prefix", prefix)
        folder = os.path.join(prefix, "share", "sluice-sdk", "rust")
        run("cargo", "fmt", "--check", folder=folder)
        said = run("cargo", "test", "--locked", folder=folder, RUSTFLAGS="-Dwarnings")
        for test in ("structs_and_numbers_are_those_of_the_headers", "Doc-tests",
                     "a_panic_is_a_fault_with_its_text_and_the_plugin_goes_on"):
            self.assertIn(test, said)

    def test_every_extension_point_holds_in_a_host(self):
        run("cargo", "build", "--release", "--example", "every-point", folder=copied(SDK, "every"))
        library = os.path.join(WORK, "every-point.so")
        shutil.copy(os.path.join(TARGET, "release", "examples", "libevery_point.so"), library)
        said = run(SLUICE, "plugin", "validate", library)
        for test in ("search-order", "notify-again", "timer-late", "check-begin-cancel",
                     "reconcile-settles", "schema-is-json"):
            self.assertRegex(said, f"success +{test}")

    def test_a_changed_header_is_noticed(self):
        copied(os.path.join(SOURCE, "sdk", "include"), "changed/include")
        folder = copied(SDK, "changed/rust")
        changed(os.path.join(WORK, "changed", "include", "sluice", "ext", "check_controller.h"),
                "  uint64_t attempt;    /* to", "  uint32_t attempt;    /* to")
        said = run("cargo", "test", "--test", "layout", folder=folder, failing=True)
        self.assertIn('"sluice_check_query_t.attempt 8 4"', said)

    @unittest.skipIf(shutil.which("cargo-clippy") is None, "there is no clippy")
    def test_each_unsafe_says_why(self):
        run("cargo", "clippy", "--all-targets", "--", "-Dwarnings", folder=copied(SDK, "clippy"))


class Examples(unittest.TestCase):
    def test_the_flavor_filter(self):
        name, library = checked(example("flavor-filter-rust"))
        run(SLUICE, "plugin", "validate", library)
        said = simulated(library, name, {}, [
            *world(["spot", "on-demand"]), workload("a"), workload("b", tier="production")])
        self.assertRegex(said, r"default/a  Admitted .*\bspot\b")
        self.assertRegex(said, r"default/b  Admitted .*\bon-demand\b")

    def test_the_check(self):
        name, library = checked(example("daily-starts-rust"))
        run(SLUICE, "plugin", "validate", library)
        objects = [*world(["any"], "example.com/daily-starts"), workload("a"), workload("b")]
        for isolation in ({}, {"isolation": "process"}):
            said = simulated(library, name, {"perDay": 1}, objects, **isolation)
            self.assertRegex(said, r"\n +0s +default/a +is admitted")
            self.assertRegex(said, r"\n +24h0m0s +default/b +is admitted")

    def test_a_panic_is_a_fault_of_the_plugin(self):
        folder, name = written("panics", "flavor-filter"), "panics"
        source = os.path.join(folder, "src", "lib.rs")
        changed(source, 'answer.skip(i, &format!("{flavor} is not for production"));',
                'panic!("no {flavor}, which is {i}");')
        changed(source, ", answer: &mut", ", _: &mut")
        run("cargo", "build", "--release", folder=folder)
        library = os.path.join(folder, name + ".so")
        shutil.copy(os.path.join(TARGET, "release", "libpanics.so"), library)
        said = simulated(library, name, {}, [
            *world(["spot"]), workload("a"), workload("b", tier="production")])
        self.assertIn("default/a  Admitted", said)
        self.assertIn("plugin panics, flavor-filter.filter: it failed: "
                      "it panicked: no spot, which is 0", said)


class Templates(unittest.TestCase):
    def test_each_is_tested_and_valid(self):
        for kind in KINDS:
            with self.subTest(kind):
                folder = written("new-" + kind, kind)
                _, library = checked(folder)
                run(SLUICE, "plugin", "validate", library)

    def test_others_are_refused(self):
        for kind in ("controller", "preemption-veto", "flavor-filter-c"):
            said = run(SLUICE, "plugin", "new", "x", "--lang", "rust", "--kind", kind,
                       failing=True)
            self.assertIn(f"there is no template {kind} in Rust; there are those of "
                          "check, flavor-filter, validator", said)
            self.assertFalse(os.path.exists(os.path.join(WORK, "x")))

    def refused(self, before, after, why, **environment):
        """The template of a filter does not compile when this is that."""
        folder = written("refused", "flavor-filter")
        changed(os.path.join(folder, "src", "lib.rs"), before, after)
        self.assertIn(why, run("cargo", "check", folder=folder, failing=True, **environment))

    def test_what_no_plugin_can_be_does_not_compile(self):
        export = 'export_plugin!(Filter, "refused", "0.1.0");'
        self.refused(export, export.replace("refused", "Re fused"), "may hold only a-z, 0-9 and -")
        self.refused(export, "struct Nothing; impl Plugin for Nothing { fn new(_: &Host, _: "
                     "&Config<'_>) -> Result<Self, StartError> { Ok(Nothing) } }"
                     + export.replace("Filter", "Nothing"), "implements no extension point")
        self.refused("prefix: String,", "prefix: std::cell::Cell<u8>,", "cannot be shared between")
        self.refused(export, export, "a plugin needs panic", RUSTFLAGS="-Cpanic=abort")


class Page(unittest.TestCase):
    def test_its_plugin_is_built_as_it_says(self):
        """The blocks of docs/plugins/rust.md: files, commands, and hooks that compile."""
        with open(PAGE, encoding="utf-8") as text:
            page = text.read()
        self.assertEqual(dead_links(SOURCE, "docs/plugins/rust.md", page), [])
        folder = os.path.join(WORK, "page")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        blocks = re.findall(r"^```(\w+)((?: [^\n]*)?)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
        script, hooks = "set -euo pipefail\n", []
        for language, how, block in blocks:
            if language == "sh":
                script += block.replace("/path/to/sluice/sdk/rust", SDK)
            elif language == "rust" and how.strip().startswith("file="):
                script += (f"cat > {how.strip().removeprefix('file=')} <<'END_OF_BLOCK'\n{block}"
                           "END_OF_BLOCK\n")
            elif language == "rust":
                hooks.append(block)
        bin_folder = os.path.join(folder, "bin")
        os.makedirs(bin_folder)
        os.symlink(SLUICE, os.path.join(bin_folder, "sluice"))
        said = run("bash", "-xc", script, folder=folder, CARGO_TARGET_DIR="target",
                   PATH=bin_folder + os.pathsep + os.environ["PATH"])
        self.assertRegex(said, r"32 tests: \d+ passed, \d+ skipped, 0 failed")
        self.assertGreaterEqual(len(hooks), 2)
        self.compiles(hooks)

    def compiles(self, hooks):
        """Each block alone, as the implementation of a type that has what the block uses."""
        folder = os.path.join(WORK, "hooks")
        os.makedirs(os.path.join(folder, "src"), exist_ok=True)
        with open(os.path.join(folder, "Cargo.toml"), "w", encoding="utf-8") as text:
            text.write('[package]\nname = "hooks"\nversion = "0.1.0"\nedition = "2021"\n'
                       f'[dependencies]\nsluice-plugin = {{ path = "{SDK}" }}\n[workspace]\n')
        with open(os.path.join(folder, "src", "lib.rs"), "w", encoding="utf-8") as text:
            for number, hook in enumerate(hooks):
                text.write(f"mod block_{number} {{\n    #![allow(unused, dead_code)]\n"
                           "    use sluice_plugin::{json::Json, *};\n"
                           "    struct Mine { host: Host }\n"
                           "    impl Plugin for Mine {\n        fn new(host: &Host, _: &Config<'_>)"
                           " -> Result<Self, StartError> {\n            Ok(Mine { host: "
                           f"host.clone() }})\n        }}\n    }}\n{hook}}}\n")
        run("cargo", "check", folder=folder)


def without_rust():
    """Why nothing of it can be tried; empty: it can."""
    for program in ("cargo", "rustc", "rustfmt"):
        if shutil.which(program) is None:
            return f"there is no Rust on this machine ({program})"
    said = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=False)
    found = re.match(r"rustc (\d+)\.(\d+)", said.stdout)
    if found is None or tuple(map(int, found.groups())) < NEEDED:
        return f"Rust is {said.stdout.strip() or 'of an unknown version'}; the crate needs 1.82"
    return ""


if __name__ == "__main__":
    os.makedirs(WORK, exist_ok=True)
    if why := without_rust():
        print("skipped: " + why)
        sys.exit(SKIP)
    unittest.main(argv=[sys.argv[0], *LEFT], verbosity=2)
