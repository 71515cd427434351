#!/usr/bin/env python3
"""Plugins from elsewhere: installed from servers that lie, signed, and taken up by a live host.

    plugin_install_test.py --sluice build/dev/bin/sluice --plugins build/dev/tests/plugins
"""
import argparse
import http.server
import json
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest

from host import Host, skip

OPTIONS = argparse.ArgumentParser()
OPTIONS.add_argument("--sluice", required=True)
OPTIONS.add_argument("--plugins", required=True, help="where the plugins of the tests are")
OPTIONS, REST = OPTIONS.parse_known_args()
OPTIONS.sluice = os.path.abspath(OPTIONS.sluice)


class Served(http.server.BaseHTTPRequestHandler):
    """FOLDER/FILE, in the way that the folder is named after."""
    def do_GET(self):
        how, name = self.path.lstrip("/").split("/", 1)
        path = os.path.join(self.server.folder, name)
        if how == "moved":
            self.send_response(302)
            self.send_header("Location", "/plain/" + name)
            self.end_headers()
            return
        if how == "none" or not os.path.exists(path):
            self.send_error(404)
            return
        with open(path, "rb") as file:
            body = file.read()
        if how == "long" and name.endswith(".sig"):
            body = b"x" * (64 * 1024 + 1)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:len(body) // 2] if how == "cut" else body)

    def log_message(self, *_):
        pass


class World(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="sluice-install-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.installed = self.at("installed")
        for name in ("installed", "served"):
            os.mkdir(self.at(name))
        for key in ("own", "other"):
            self.openssl("genpkey", "-algorithm", "ed25519", "-out", key + ".pem")
            self.openssl("pkey", "-in", key + ".pem", "-pubout", "-out", key + ".pub")
        shutil.copy(os.path.join(OPTIONS.plugins, "filter.so"), self.at("served"))
        self.run_ok("sign", "served/filter.so", "--key", "own.pem")

    def at(self, *path):
        return os.path.join(self.folder, *path)

    def openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], cwd=self.folder, check=True, capture_output=True)

    def sluice(self, *arguments, **environment):
        return subprocess.run([OPTIONS.sluice, "plugin", *arguments],
                              cwd=self.folder, env={**os.environ, **environment}, timeout=120,
                              capture_output=True, text=True, check=False)

    def run_ok(self, *arguments, **environment):
        done = self.sluice(*arguments, **environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def refused(self, *arguments, **environment):
        """Why; and the folder of plugins is as it was."""
        before = os.listdir(self.installed)
        done = self.sluice(*arguments, **environment)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual(os.listdir(self.installed), before)
        return done.stderr

    def serve(self, tls=False):
        """The address of a server of the folder."""
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Served)
        server.folder = self.at("served")
        if tls:
            self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt",
                         "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1", "-subj",
                         "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
                         "tls.key", "-out", "tls.crt")
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.at("tls.crt"), self.at("tls.key"))
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http{'s' if tls else ''}://127.0.0.1:{server.server_address[1]}"


class Commands(World):
    def install(self, whence, *more):
        return ("install", whence, "--directory", self.installed, *more)

    def test_by_http_a_signature_decides(self):
        url = self.serve()
        self.assertIn("it has to be signed: name the key",
                      self.refused(*self.install(url + "/plain/filter.so")))
        self.assertIn("it is signed by ",
                      self.refused(*self.install(url + "/plain/filter.so", "--key", "other.pub")))
        said = self.run_ok(*self.install(url + "/plain/filter.so", "--key", "own.pub"))
        for line in ("name      filter", "provides  flavor-filter/1", "may       nothing"):
            self.assertIn(line + "\n", said)
        self.assertEqual(sorted(os.listdir(self.installed)), ["filter.so", "filter.so.sig"])
        self.assertIn("has it already",
                      self.run_ok(*self.install(url + "/plain/filter.so", "--key", "own.pub")))

    def test_servers_that_lie(self):
        url = self.serve()
        for how, why in (("cut", "the answer broke off from "), ("none", "the server answered 404"),
                         ("moved", "the server answered 302, a redirect, which is not followed"),
                         ("long", "/long/filter.so.sig: it has more than 65536 bytes")):
            said = self.refused(*self.install(f"{url}/{how}/filter.so", "--key", "own.pub"))
            self.assertIn(why, said)
            self.assertIn(f"{url}/{how}/filter.so", said)
        with open(self.at("served", "filter.so"), "ab") as file:
            file.write(b"more")
        self.assertIn("its signature is for other bytes",
                      self.refused(*self.install(url + "/plain/filter.so", "--key", "own.pub")))
        os.remove(self.at("served", "filter.so.sig"))
        self.assertIn("filter.so.sig: the server answered 404",
                      self.refused(*self.install(url + "/plain/filter.so", "--key", "own.pub")))
        for wrong in ("http://", "http://host", "http://u@host/x.so", "http://host/x.so#y"):
            self.assertIn("it is no URL that is followed",
                          self.refused(*self.install(wrong, "--key", "own.pub")))

    def test_by_https_the_certificate_decides(self):
        url = self.serve(tls=True)
        self.assertIn("certificate verify failed",
                      self.refused(*self.install(url + "/plain/filter.so")))
        said = self.run_ok(*self.install(url + "/plain/filter.so", "-o", "json"),
                           SSL_CERT_FILE=self.at("tls.crt"))
        told = json.loads(said)
        self.assertEqual(told["installed"], os.path.join(self.installed, "filter.so"))
        self.assertEqual([told["provides"], told["may"]], [["flavor-filter/1"], []])
        self.assertNotIn("signedBy", told)
        self.assertIn("certificate", self.refused(
            *self.install(url.replace("127.0.0.1", "localhost") + "/plain/filter.so"),
            SSL_CERT_FILE=self.at("tls.crt")))

    def test_a_dry_run_puts_nothing_anywhere(self):
        told = json.loads(self.run_ok(*self.install("served/filter.so", "--dry-run", "--key",
                                                    "own.pub", "-o", "json")))
        self.assertEqual(told["signedBy"]["file"], "own.pub")
        self.assertEqual(os.listdir(self.installed), [])

    def test_verify_and_list_say_who_signed(self):
        self.assertRegex(self.run_ok("verify", "served/filter.so", "--key", "own.pub"),
                         r"filter 1\.2\.3 is signed by [0-9a-f]{16} \(own\.pub\)")
        self.assertIn("it is signed by ",
                      self.refused("verify", "served/filter.so", "--key", "other.pub"))
        self.assertIn("no key is named", self.refused("verify", "served/filter.so"))
        shutil.copy(os.path.join(OPTIONS.plugins, "objects-b.so"), self.at("served"))
        with open(self.at("sluice.yaml"), "w", encoding="utf-8") as file:
            file.write("apiVersion: config.sluice.dev/v1alpha1\nkind: Configuration\n"
                       f"plugins: {{directory: '{self.at('served')}', "
                       "trust: {keys: [own.pub], require: true}, load: [{name: objects-b}]}\n")
        self.run_ok("verify", "served/filter.so", "--host-config", "sluice.yaml")
        listed = {each["name"]: each for each in json.loads(
            self.run_ok("list", "--config", "sluice.yaml", "-o", "json"))["plugins"]}
        self.assertEqual(listed["filter"]["signedBy"]["file"], "own.pub")
        self.assertNotIn("error", listed["filter"])
        self.assertIn("it is not signed; allowed", listed["objects-b"]["error"])
        self.assertEqual(listed["objects-b"]["may"],
                         ["get,create ConfigMap", "patch ConfigMap/status"])
        self.assertEqual(listed["objects-b"]["provides"], ["controller/1", "timers/1"])
        here = json.loads(self.run_ok("list", "--directory", "served", "-o", "json"))
        self.assertEqual(sorted(each["name"] for each in here["plugins"]), sorted(listed))
        table = self.run_ok("list", "--config", "sluice.yaml")
        self.assertRegex(table, r"NAME +VERSION +USE +SIGNED BY +PROVIDES +NEEDS +MAY +PROBLEM\n")


class LiveHost(World):
    def test_a_host_takes_up_what_is_signed_and_nothing_else(self):
        shutil.copy(self.at("served", "filter.so"), self.installed)
        section = (f"{{directory: '{self.installed}', "
                   f"trust: {{keys: ['{self.at('own.pub')}'], require: true}}, "
                   "load: [%s]}")
        host = Host(OPTIONS.sluice, memory=True, plugins=section % "{name: filter}")
        self.addCleanup(host.stop)
        with self.assertRaisesRegex(RuntimeError, "filter.so: it is not signed; allowed: by one"):
            host.start()
        host.process.wait(timeout=180)
        host.process.stdout.close()
        self.run_ok("install", "served/filter.so", "--directory", self.installed, "--key",
                    "own.pub")
        host.start()
        with open(os.path.join(self.installed, "filter.so"), "ab") as file:
            file.write(b"more")
        self.assertFalse(host.reload(section % "{name: filter}"))
        self.assertIn("filter.so: its signature is for other bytes", host.log())
        self.assertTrue(host.reload(section % ""), "the host goes on")


if __name__ == "__main__":
    if shutil.which("openssl") is None:
        skip("there is no openssl here")
    unittest.main(argv=[sys.argv[0], *REST], verbosity=2)
