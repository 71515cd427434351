"""Requests of the tests to an API server, and waiting for what happens by itself."""
import contextlib
import http.client
import json
import os
import ssl
import sys
import urllib.error
import urllib.request

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "e2e"))

from host import eventually  # noqa: E402, F401  (for the tests that import it from here)


@contextlib.contextmanager
def answering():
    """An answer that breaks off is an error of the connection, as one that never comes."""
    try:
        yield
    except http.client.HTTPException as error:
        raise ConnectionError(repr(error)) from error


class Api:
    def __init__(self, server, authority=None, token=None):
        self.server, self.token = server, token
        self.tls = ssl.create_default_context(cafile=authority) if authority else None

    def open(self, verb, path, body=None, content="application/json", timeout=180):
        """The answer, whatever it says, as urllib gives it."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.server + path, data=data, method=verb)
        if self.token:
            request.add_header("Authorization", "Bearer " + self.token)
        if data is not None:
            request.add_header("Content-Type", content)
        try:
            return urllib.request.urlopen(request, context=self.tls, timeout=timeout)
        except urllib.error.HTTPError as answer:
            return answer

    def send(self, verb, path, body=None, content="application/json"):
        """Code and answer; the answer is parsed when it is JSON."""
        with answering(), self.open(verb, path, body, content) as answer:
            text = answer.read().decode()
            is_json = answer.headers.get_content_type() == "application/json"
            return answer.status, json.loads(text) if is_json else text

    def must(self, verb, path, body=None, content="application/json"):
        """The answer; an error is an error here."""
        code, answer = self.send(verb, path, body, content)
        if code >= 300:
            raise AssertionError(f"{verb} {path}: {code} {answer}")
        return answer

    def get(self, path):
        return self.must("GET", path)

    def items(self, path):
        return self.get(path)["items"]

    def post(self, path, body):
        return self.must("POST", path, body)

    def merge(self, path, body):
        return self.must("PATCH", path, body, "application/merge-patch+json")

    def delete(self, path, **options):
        return self.must("DELETE", path, options or None)

    def watch(self, path, version):
        """Each event of the list from this version on, until the server ends the watch."""
        mark = "&" if "?" in path else "?"
        with answering(), self.open("GET", f"{path}{mark}watch=1&resourceVersion={version}",
                                    timeout=None) as answer:
            for line in answer:
                yield json.loads(line)


def await_account(api, ns):
    """Pods of a namespace have an account a moment after it was made; before, they are refused."""
    eventually(lambda: api.send("GET", f"/api/v1/namespaces/{ns}/serviceaccounts/default")[0]
               == 200, f"pods of {ns} have an account")
