#!/usr/bin/env python3
"""The Debian packages: what is in them, what they ask for, that they work where they are unpacked.

    packages_test.py --build build/release [--hardened] [--root FOLDER] [TestClass.test_name …]

--root: also install, upgrade, remove and purge them in a fresh Debian root that debootstrap makes
in FOLDER (as root; some minutes, and Debian's archive has to be in reach).
"""
import argparse
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = ROOT = ""
HARDENED = False
NEEDED = ("cpack", "dpkg-deb", "dpkg-shlibdeps")


def run(*words, **more):
    return subprocess.run(words, capture_output=True, text=True, check=False, **more)


def ask(*words, **more):
    done = run(*words, **more)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.work.cleanup)
        cls.pack(cls.work.name)
        found = os.listdir(cls.work.name)
        cls.host, cls.sdk = (
            f"{cls.work.name}/{next(file for file in found if re.match(name + '_.*[.]deb$', file))}"
            for name in ("sluice", "sluice-sdk"))
        cls.unpacked = f"{cls.work.name}/unpacked"
        ask("dpkg-deb", "-x", cls.host, cls.unpacked)

    @staticmethod
    def pack(folder):
        ask("cpack", "--config", f"{BUILD}/CPackConfig.cmake", "-B", folder,
            env=os.environ | {"SOURCE_DATE_EPOCH": "1767225600"})

    def programs(self):
        """Program and plugins, as they are installed."""
        yield f"{self.unpacked}/usr/bin/sluice"
        plugins = f"{self.unpacked}/usr/lib/sluice/plugins"
        yield from (os.path.join(plugins, name) for name in sorted(os.listdir(plugins)))

    def test_packed_twice_they_are_the_same(self):
        def digests(folder):
            out = {}
            for name in sorted(os.listdir(folder)):
                if name.endswith(".deb"):
                    with open(os.path.join(folder, name), "rb") as file:
                        out[name] = hashlib.sha256(file.read()).hexdigest()
            return out

        with tempfile.TemporaryDirectory() as again:
            self.pack(again)
            self.assertEqual(digests(again), digests(self.work.name))

    def test_programs_are_hardened(self):
        if not HARDENED:
            self.skipTest("this build is not hardened")
        for path in self.programs():
            dynamic, heads = ask("readelf", "-dW", path), ask("readelf", "-lW", path)
            self.assertRegex(dynamic, r"FLAGS_1.*NOW", path)
            self.assertNotRegex(dynamic, r"R(UN)?PATH", path)
            self.assertNotIn("TEXTREL", dynamic, path)
            self.assertIn("GNU_RELRO", heads, path)
            self.assertRegex(heads, r"GNU_STACK.* RW ", path)
            self.assertNotRegex(heads, r"LOAD.* RWE ", path)
            self.assertIn("(Shared object file)" if path.endswith(".so") else
                          "(Position-Independent Executable file)", ask("readelf", "-h", path))
            if platform.machine() == "x86_64":  # marked for shadow stacks
                self.assertIn("SHSTK", ask("readelf", "-n", path), path)
        symbols = ask("nm", "-D", f"{self.unpacked}/usr/bin/sluice")
        for name in ("__stack_chk_fail", "_chk@"):
            self.assertIn(name, symbols)

    def test_a_bill_of_materials_is_in_it(self):
        with open(f"{self.unpacked}/usr/share/doc/sluice/sbom.spdx.json", encoding="utf-8") as text:
            bill = json.load(text)
        self.assertEqual(bill["spdxVersion"], "SPDX-2.3")
        packages = {each["name"]: each for each in bill["packages"]}
        for name in ("sluice", "libc6", "libssl3", "libsqlite3-0", "libtbb12", "libnghttp2-14",
                     "uPlot"):
            self.assertTrue(packages[name]["versionInfo"], name)
        version = ask("dpkg-query", "-W", "-f", "${Version}", "libssl3")
        self.assertEqual(packages["libssl3"]["versionInfo"], version)
        listed = {each["fileName"]: each for each in bill["files"]}
        for path in self.programs():
            with open(path, "rb") as file:
                digest = hashlib.sha256(file.read()).hexdigest()
            name = "./" + os.path.relpath(path, self.unpacked)
            self.assertIn({"algorithm": "SHA256", "checksumValue": digest},
                          listed[name]["checksums"])
        ids = [each["SPDXID"] for each in bill["packages"] + bill["files"]]
        self.assertEqual(len(ids), len(set(ids)))

    def test_the_host_holds_what_the_page_says(self):
        for path in ("usr/bin/sluice", "usr/lib/sluice/plugins/flavor-fungibility.so",
                     "usr/share/man/man1/sluice-simulate.1", "usr/share/doc/sluice/operations.md",
                     "usr/share/sluice/grafana/operators.json",
                     "usr/share/sluice/prometheus/sluice.yaml",
                     "usr/share/sluice/job-kinds/jobset.yaml",
                     "usr/share/bash-completion/completions/sluice",
                     "usr/share/zsh/vendor-completions/_sluice",
                     "usr/share/fish/vendor_completions.d/sluice.fish",
                     "usr/lib/systemd/system/sluice.service", "etc/sluice/sluice.yaml"):
            here = os.path.join(self.unpacked, path)
            self.assertTrue(os.path.exists(here) or os.path.exists(f"{here}.gz"), path)
        self.assertFalse(os.path.exists(f"{self.unpacked}/usr/include"), "the SDK has its own")

    def test_it_runs_from_where_it_lies(self):
        program = f"{self.unpacked}/usr/bin/sluice"
        version = ask("dpkg-deb", "-f", self.host, "Version").strip()
        self.assertEqual(ask(program, "version"), f"sluice {version}\n")
        self.assertIn("flavor-fungibility", ask(program, "plugin", "list"))

    def test_the_service_starts_the_program_with_the_configuration(self):
        unit = f"{self.unpacked}/usr/lib/systemd/system/sluice.service"
        with open(unit, encoding="utf-8") as file:
            text = file.read()
        self.assertIn("ExecStart=/usr/bin/sluice serve --config /etc/sluice/sluice.yaml", text)
        self.assertNotIn("/usr/local", text)
        self.assertEqual(ask("dpkg-deb", "-I", self.host, "conffiles"), "/etc/sluice/sluice.yaml\n")

    def test_it_asks_for_the_libraries_that_it_uses(self):
        depends = ask("dpkg-deb", "-f", self.host, "Depends")
        for library in ("libc6", "libboost-json", "libssl", "libsqlite3", "libtbb", "libjemalloc",
                        "libnghttp2"):
            self.assertIn(library, depends)

    def test_the_sdk_is_headers_alone(self):
        names = ask("dpkg-deb", "-c", self.sdk)
        self.assertIn("usr/include/sluice/", names)
        self.assertIn("SluiceSDKConfig.cmake", names)
        self.assertNotIn("usr/bin/", names)

    def serves_and_ends(self):
        """What the unit does, where no systemd runs: start as the user, until it is ready."""
        words = ["chroot", "--userspec=sluice:sluice", ROOT, "env", "HOME=/var/lib/sluice",
                 "sluice", "serve", "--config", "/etc/sluice/sluice.yaml"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as host:
            ready = host.stdout.readline()
            host.terminate()
            said = host.communicate()[1]
        self.assertIn("ready https://127.0.0.1:6443", ready, said)
        self.assertEqual(host.returncode, 0, said)

    def test_comes_and_goes_in_a_fresh_root(self):
        if not ROOT:
            self.skipTest("no --root FOLDER for a fresh Debian root")
        ask("debootstrap", "--variant=minbase", "bookworm", ROOT)
        self.addCleanup(shutil.rmtree, ROOT)
        ask("mount", "-t", "proc", "proc", f"{ROOT}/proc")
        self.addCleanup(ask, "umount", f"{ROOT}/proc")
        shutil.copy(self.host, f"{ROOT}/sluice.deb")

        def inside(*words):
            return ask("chroot", ROOT, *words, env=os.environ | {
                "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"})

        inside("apt-get", "install", "-y", "-q", "--no-install-recommends", "/sluice.deb")
        self.assertIn("/var/lib/sluice", inside("getent", "passwd", "sluice"))
        inside("install", "-d", "-o", "sluice", "/var/lib/sluice")  # systemd's StateDirectory
        self.serves_and_ends()
        with open(f"{ROOT}/etc/sluice/sluice.yaml", "a", encoding="utf-8") as file:
            file.write("# the operator's own line\n")
        inside("dpkg", "-i", "--force-confdef", "--force-confold", "/sluice.deb")  # an upgrade
        with open(f"{ROOT}/etc/sluice/sluice.yaml", encoding="utf-8") as file:
            self.assertIn("the operator's own line", file.read())
        self.assertIn("ok: ", inside("sluice", "store", "check", "/var/lib/sluice/store"))
        inside("apt-get", "remove", "-y", "-q", "sluice")
        self.assertTrue(os.path.exists(f"{ROOT}/etc/sluice/sluice.yaml"))
        self.assertIn("/var/lib/sluice is kept", inside("apt-get", "purge", "-y", "-q", "sluice"))
        self.assertFalse(os.path.exists(f"{ROOT}/etc/sluice"))
        self.assertTrue(os.path.exists(f"{ROOT}/var/lib/sluice/store"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--root", default="")
    parser.add_argument("--hardened", action="store_true", help="what was built is to be")
    options, rest = parser.parse_known_args()
    BUILD, ROOT = os.path.abspath(options.build), options.root and os.path.abspath(options.root)
    HARDENED = options.hardened
    missing = [name for name in NEEDED if not shutil.which(name)]
    if missing:
        print("skipped: not installed:", ", ".join(missing))
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
