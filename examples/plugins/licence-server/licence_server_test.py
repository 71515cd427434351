"""python3 -m unittest, with sluice_plugin installed or its folder in PYTHONPATH."""
import http.server
import json
import threading
import unittest

import sluice_plugin as sluice
from licence_server import DOMAIN, LicenceServer, seats_of

FEATURES = {"sim": {"total": 10, "used": 7}, "mesh": {"total": 1, "used": 0}}


class Host:
    """What the plugin needs of one; a virtual clock."""
    simulated = False

    def __init__(self):
        self.time = 0

    def now(self):
        return self.time


class Seats(unittest.TestCase):
    def setUp(self):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = json.dumps({"features": FEATURES}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        self.addCleanup(server.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(server.shutdown)
        self.host = Host()
        self.plugin = LicenceServer(self.host, {
            "url": f"http://127.0.0.1:{server.server_port}", "askAgainSeconds": 30,
            "settleSeconds": 60})

    def attempt(self, name):
        return sluice.Attempt("team", name, "uid-" + name, "licences", 1)

    def decide(self, name, **seats):
        annotations = {DOMAIN + feature: str(count) for feature, count in seats.items()}
        workload = {"metadata": {"name": name, "annotations": annotations}}
        return self.plugin.decide(sluice.CheckQuery(self.attempt(name), 0, workload, {}))

    def test_who_needs_none_starts(self):
        self.assertEqual(self.decide("a").state, "Ready")

    def test_seats_are_given_while_there_are_some(self):
        # 3 of 10 are free; what was given counts until the server has had time to see it.
        self.assertEqual(self.decide("a", sim=2).message, "seats: 2 sim")
        answer = self.decide("b", sim=2)
        self.assertEqual((answer.state, answer.after_seconds), ("Retry", 30))
        self.assertEqual(answer.message, "sim: 1 of 10 seats are free, it needs 2")
        self.plugin.cancel_check(sluice.CheckCancel(self.attempt("a"), "it was evicted"))
        self.assertEqual(self.decide("b", sim=2).state, "Ready")
        self.host.time += 61 * 10**9
        self.assertEqual(self.decide("c", sim=3).state, "Ready")

    def test_all_or_none(self):
        answer = self.decide("a", mesh=1, sim=9, none=1)
        self.assertEqual(answer.message, "the licence server has no none; "
                                         "sim: 3 of 10 seats are free, it needs 9")
        self.assertEqual(self.decide("b", mesh=1).state, "Ready")

    def test_what_is_no_number_is_told(self):
        with self.assertRaisesRegex(sluice.Failed, "'two' is no number of seats"):
            seats_of({DOMAIN + "sim": "two"})


if __name__ == "__main__":
    unittest.main()
