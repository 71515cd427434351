"""Requests to a live host without a client: what a test looks at often, and what it sends to the
letter.

    rest = Rest(host.kubeconfig)
    rest.get("/api/v1/namespaces")["items"]
    code, answer = rest.send("POST", "/apis/batch/v1/namespaces/default/jobs", {…})
"""
import base64
import json
import re
import ssl
import urllib.error
import urllib.request


class Rest:
    def __init__(self, kubeconfig):
        with open(kubeconfig, encoding="utf-8") as text:
            config = text.read()
        self.server = re.search(r"server: (\S+)", config).group(1)
        self.token = re.search(r"token: (\S+)", config).group(1)
        authority = re.search(r"certificate-authority-data: (\S+)", config).group(1)
        self.tls = ssl.create_default_context(cadata=base64.b64decode(authority).decode())

    def send(self, verb, path, body=None, content="application/json", **headers):
        """Code and answer; the answer is parsed when it is JSON."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.server + path, data=data, method=verb)
        request.add_header("Authorization", "Bearer " + self.token)
        if data is not None:
            request.add_header("Content-Type", content)
        for name, value in headers.items():
            request.add_header(name.replace("_", "-"), value)
        try:
            with urllib.request.urlopen(request, context=self.tls, timeout=180) as answer:
                return answer.status, self.parsed(answer)
        except urllib.error.HTTPError as answer:
            return answer.code, self.parsed(answer)

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
