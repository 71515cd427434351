"""Requests to a live host without a client: what a test looks at often, and what it sends to the
letter.

    rest = Rest(host.kubeconfig)
    rest.get("/api/v1/namespaces")["items"]
    code, answer = rest.send("POST", "/apis/batch/v1/namespaces/default/jobs", {…})
"""
import http.client
import json
import re
import select
import threading
import urllib.parse

from wire import context, credentials


class Rest:
    def __init__(self, kubeconfig):
        with open(kubeconfig, encoding="utf-8") as text:
            self.server = re.search(r"server: (\S+)", text.read()).group(1)
        self.token = credentials(kubeconfig)[1]
        self.tls = context(kubeconfig)
        self.kept = threading.local()  # a connection of each thread

    def connection(self):
        """The one of before, unless the host has closed it since."""
        kept = getattr(self.kept, "connection", None)
        if kept is not None and kept.sock is not None:
            if not select.select([kept.sock], [], [], 0)[0]:
                return kept
            kept.close()
        server = urllib.parse.urlsplit(self.server)
        self.kept.connection = http.client.HTTPSConnection(
            server.hostname, server.port, context=self.tls, timeout=180)
        return self.kept.connection

    def send(self, verb, path, body=None, content="application/json", **headers):
        """Code and answer; the answer is parsed when it is JSON."""
        fields = {"Authorization": "Bearer " + self.token}
        fields |= {name.replace("_", "-"): value for name, value in headers.items()}
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            fields["Content-Type"] = content
        connection = self.connection()
        try:
            connection.request(verb, path, data, fields)
            answer = connection.getresponse()
            return answer.status, self.parsed(answer)
        except BaseException:
            connection.close()  # of an answer that was not read to its end nothing is kept
            raise

    @staticmethod
    def parsed(answer):
        text = answer.read().decode()
        is_json = answer.headers.get_content_type() == "application/json"
        return json.loads(text) if is_json else text

    def get(self, path):
        """The object; an error is an error here."""
        code, answer = self.send("GET", path)
        if code != 200:
            raise AssertionError(f"GET {path}: {code} {answer}")
        return answer
