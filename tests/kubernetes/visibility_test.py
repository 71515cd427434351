#!/usr/bin/env python3
"""The visibility API of `sluice controller` through the aggregation layer of a real control plane:
who waits, who may know, whom it believes, and that it is asked where somebody decides."""
import http.client
import json
import ssl
import subprocess

import build
from asked import Case
from client import Api, eventually
from control_plane import own_address
from ports import own_port

PENDING = "/apis/visibility.kueue.x-k8s.io/{}/{}/pendingworkloads"
QUEUE = PENDING.format("v1beta2", "clusterqueues/q")
LOCAL = PENDING.format("v1beta2", "namespaces/default/localqueues/q")
SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices/"
SLICE = "/apis/discovery.k8s.io/v1/namespaces/sluice-system/endpointslices/sluice-visibility"
RBAC = "/apis/rbac.authorization.k8s.io/v1"


def names(answer):
    return [each["metadata"]["name"] for each in answer["items"]]


class Visibility(Case):
    @classmethod
    def manifests(cls):
        """The webhooks by URL; by Services what API servers pass on."""
        kept = super().manifests()
        text = subprocess.run(
            [cls.sluice, "manifests", *cls.plugins, "--only", "APIService,Service"],
            capture_output=True, text=True, check=True).stdout
        return kept + [each for each in cls.parsed(text)
                       if each["metadata"]["name"].endswith("visibility")
                       or each["kind"] == "APIService"]

    def replica(self, user, port, decides):
        return self.controller(user, decides, "--webhook-address", f"0.0.0.0:{port}",
                               "--webhook-names", "127.0.0.1", "--advertise-ip", self.address)

    def test_all_that_is_promised(self):
        """One cluster for all of it: a control plane takes longer to start than this."""
        self.address = own_address()
        if not self.address:
            self.skipTest("this machine has no address but loopback, which no endpoint may have")
        leader = self.replica("one", self.port, True)
        other = own_port()
        self.replica("other", other, False)
        self.fill()
        self.known()
        self.listed()
        self.denied()
        for port in (self.port, other):
            self.believed_only_with_a_certificate(port)
        self.assertEqual(self.ask(other, "front-proxy", "admin", "system:masters")[0], 503)
        self.told_once("one")
        leader.kill()
        eventually(self.all_wait, "the other one answers")
        self.told_once("other")

    def fill(self):
        self.kueue.flavor("default")
        self.kueue.cluster_queue("q", {"default": "1"}, stopPolicy="Hold")
        self.kueue.local_queue("q", "q")
        for name, priority in (("first", 3), ("second", 2), ("third", 1)):
            self.kueue.workload(name, "q", "1", priority)
        self.waiting = ["first", "second", "third"]

    def known(self):
        """API servers find it, and describe it to clients."""
        for version in ("v1beta1", "v1beta2"):
            path = f"{SERVICES}{version}.visibility.kueue.x-k8s.io"
            eventually(lambda at=path: any(
                each["type"] == "Available" and each["status"] == "True"
                for each in self.api.get(at).get("status", {}).get("conditions", [])),
                f"{version} is available")
            served = f"apis/visibility.kueue.x-k8s.io/{version}"
            eventually(lambda at=served: self.api.send("GET", "/" + at)[0] == 200,
                       f"{version} is served")
            self.assertEqual([each["name"] for each in self.api.get("/" + served)["resources"]],
                             ["clusterqueues/pendingworkloads", "localqueues/pendingworkloads"])
            eventually(lambda at=served: at in self.open_api(), "its OpenAPI is known")
        def preferred():
            groups = {each["name"]: each for each in self.api.get("/apis")["groups"]}
            return groups.get("visibility.kueue.x-k8s.io", {}).get("preferredVersion", {})
        eventually(lambda: preferred().get("version") == "v1beta2", "which version is preferred")

    def all_wait(self):
        """The replica that answers may hear of the queue, or that it decides, a moment later."""
        code, answer = self.api.send("GET", QUEUE)
        return code == 200 and names(answer) == self.waiting

    def open_api(self):
        """The paths of all OpenAPI documents. The server calls its index plain text."""
        with self.api.open("GET", "/openapi/v3") as answer:
            return json.load(answer)["paths"]

    def listed(self):
        eventually(self.all_wait, "they wait in order")
        self.assertEqual(names(self.api.get(LOCAL)), self.waiting)
        self.assertEqual(names(self.api.get(QUEUE + "?limit=1&offset=1")), ["second"])
        old = self.api.get(PENDING.format("v1beta1", "clusterqueues/q"))
        self.assertEqual((old["apiVersion"], names(old)),
                         ("visibility.kueue.x-k8s.io/v1beta1", self.waiting))
        said = subprocess.run(["kubectl", "--kubeconfig", self.cluster.kubeconfig("admin"), "get",
                               "--raw", QUEUE], capture_output=True, text=True, check=True).stdout
        self.assertEqual(names(json.loads(said)), self.waiting)
        self.assertEqual(self.api.send("GET", QUEUE.replace("/q/", "/absent/"))[0], 404)
        self.assertEqual(self.api.send("POST", QUEUE, {})[0], 405)

    def denied(self):
        """Who has no right is refused there; the role of batch users is enough for their queues."""
        user = Api(self.cluster.server, self.cluster.path("ca.crt"), "nobody-token")
        for path in (QUEUE, LOCAL):
            code, answer = user.send("GET", path)
            self.assertEqual(code, 403, answer)
            self.assertIn('User "nobody" cannot get resource', answer["message"])
        self.api.post(f"{RBAC}/namespaces/default/rolebindings", {
            "metadata": {"name": "batch"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                        "name": "kueue-batch-user-role"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User",
                          "name": "nobody"}]})
        eventually(lambda: user.send("GET", LOCAL)[0] == 200, "the right is known")
        self.assertEqual(user.send("GET", QUEUE)[0], 403)

    def ask(self, port, certificate, user, group=None, **headers):
        """Past the API server: code and answer."""
        tls = ssl.create_default_context()
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
        if certificate:
            tls.load_cert_chain(self.cluster.path(certificate + ".crt"),
                                self.cluster.path(certificate + ".key"))
        if user:
            headers["X-Remote-User"] = user
        if group:
            headers["X-Remote-Group"] = group
        link = http.client.HTTPSConnection(self.address, port, context=tls, timeout=180)
        try:
            link.request("GET", QUEUE, headers=headers)
            answer = link.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            link.close()

    def believed_only_with_a_certificate(self, port):
        def knows_them():
            try:
                return self.ask(port, None, None)[0] == 401
            except OSError:
                return False  # it does not listen yet
        eventually(knows_them, "it knows the API servers")
        for certificate, user in ((None, "admin"), ("impostor", "admin"), ("no-proxy", "admin"),
                                  ("admin", "admin"), ("front-proxy", None)):
            with self.subTest(certificate=certificate, user=user):
                code, answer = self.ask(port, certificate, user, "system:masters")
                self.assertEqual((code, answer["reason"]), (401, "Unauthorized"))
        self.assertEqual(self.ask(port, None, None, Authorization="Bearer admin-token")[0], 401)
        self.assertEqual(self.ask(port, "front-proxy", "stranger")[0], 403)

    def told_once(self, user):
        """The one that decides wrote where it is, and nothing again."""
        def writes():
            return [code for verb, resource, code in self.cluster.requests_of(user)
                    if resource == "endpointslices" and verb != "get"]
        eventually(writes, "its write is logged")
        self.assertEqual(len(writes()), 1, writes())
        self.assertEqual(self.api.get(SLICE)["endpoints"][0]["addresses"], [self.address])


if __name__ == "__main__":
    build.run_tests(Case)
