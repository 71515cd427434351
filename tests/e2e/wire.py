"""Requests to a live host over one TLS connection that is kept, with nothing in between.

    with Wire(host) as wire:
        status, headers, body = wire.ask("GET", "/api/v1/namespaces")
"""
import base64
import http.client
import json
import re
import ssl


def credentials(kubeconfig):
    """CA (PEM) and token of the kubeconfig that a host wrote."""
    with open(kubeconfig, encoding="utf-8") as text:
        content = text.read()
    authority = re.search(r'certificate-authority-data"?: *"?([A-Za-z0-9+/=]+)', content)
    token = re.search(r'token"?: *"?([^\s",}]+)', content)
    return base64.b64decode(authority.group(1)).decode(), token.group(1)


def context(kubeconfig):
    return ssl.create_default_context(cadata=credentials(kubeconfig)[0])


class Wire:
    """One connection. A broken one is an error, nothing is opened again behind one's back."""

    def __init__(self, host, token=None, tls=None, timeout=180):
        address, port = host.address.removeprefix("https://").rsplit(":", 1)
        self.token = credentials(host.kubeconfig)[1] if token is None else token
        self.connection = http.client.HTTPSConnection(
            address, int(port), timeout=timeout, context=tls or context(host.kubeconfig))
        self.connection.connect()
        self.connection.auto_open = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def send(self, method, path, body=None, kind="application/json", headers=None):
        """The response, its body unread."""
        fields = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        if body is not None:
            fields["Content-Type"] = kind
            if not isinstance(body, (str, bytes)):
                body = json.dumps(body)
        self.connection.request(method, path, body, fields | (headers or {}))
        return self.connection.getresponse()

    def ask(self, method, path, body=None, kind="application/json", headers=None):
        answer = self.send(method, path, body, kind, headers)
        text = answer.read()
        try:
            text = json.loads(text)
        except ValueError:
            pass
        return answer.status, answer.headers, text


class Watch:
    """A watch: one event after the other."""

    def __init__(self, wire, path):
        self.response = wire.send("GET", path + ("&" if "?" in path else "?") + "watch=true")
        if self.response.status != 200:
            raise AssertionError(f"{path}: {self.response.status} {self.response.read()}")

    def next(self):
        """None at the orderly end of the stream; a broken one is an error."""
        line = self.response.readline()
        return json.loads(line) if line else None
