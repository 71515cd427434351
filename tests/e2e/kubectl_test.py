#!/usr/bin/env python3
"""Real kubectl against a live host: what people do with a cluster, command by command.

    kubectl_test.py --sluice build/dev/bin/sluice [TestClass.test_name …]
"""
import json
import os
import signal

from kubectl_live import JOB, Kubectl, WORKLOAD, config_map, main


class Reading(Kubectl):
    def test_version(self):
        self.assertRegex(self.kubectl("version"), r'Server Version: .*v1\.33\.')

    def test_api_resources(self):
        names = self.kubectl("api-resources", "-o", "name").split()
        for name in ("pods", "jobs.batch", "clusterqueues.kueue.x-k8s.io", "events",
                     "workloads.kueue.x-k8s.io", "roles.rbac.authorization.k8s.io"):
            self.assertIn(name, names)
        self.assertIn("kueue.x-k8s.io/v1beta1", self.kubectl("api-versions"))
        wide = self.kubectl("api-resources", "--api-group=kueue.x-k8s.io", "-o", "wide")
        self.assertRegex(wide, r"clusterqueues +cq +kueue\.x-k8s\.io/v1beta2 +false +ClusterQueue")

    def test_output_forms(self):
        self.assertIn("cluster-queue", self.kubectl("get", "cq"))
        self.assertRegex(self.kubectl("get", "clusterqueues"), r"^NAME +COHORT")
        self.assertIn("STRATEGY", self.kubectl("get", "cq", "-o", "wide"))
        self.assertIn("nominalQuota", self.kubectl("get", "cq", "cluster-queue", "-o", "yaml"))
        self.assertEqual(self.host.json("get", "cq", "cluster-queue")["kind"], "ClusterQueue")
        self.assertEqual(self.kubectl("get", "cq", "-o", "name").strip(),
                         "clusterqueue.kueue.x-k8s.io/cluster-queue")
        self.assertEqual(
            self.kubectl("get", "cq", "-o", "jsonpath={.items[*].spec.resourceGroups[0]"
                         ".flavors[0].resources[0].nominalQuota}"), "9")
        self.assertRegex(self.kubectl("get", "cq", "-o", "custom-columns=N:.metadata.name"),
                         r"N\ncluster-queue")
        self.assertIn("cluster-queue", self.kubectl(
            "get", "cq", "-o", "go-template={{range .items}}{{.metadata.name}}{{end}}"))
        self.assertRegex(self.kubectl("get", "lq", "-A"), r"^NAMESPACE +NAME +CLUSTERQUEUE")
        self.assertRegex(self.kubectl("get", "lq,rf"), r"localqueue\.kueue\.x-k8s\.io/user-queue")
        self.assertNotIn("NAME", self.kubectl("get", "cq", "--no-headers"))

    def test_explain(self):
        pod_sets = self.kubectl("explain", "workload.spec.podSets")
        self.assertRegex(pod_sets, r"(FIELD|RESOURCE): +podSets <\[\]Object>")
        self.assertRegex(pod_sets, r"VERSION: +(kueue\.x-k8s\.io/)?v1beta2")
        self.assertRegex(pod_sets, r"template\t<\w+> -required-")
        self.assertIn("How many pods it has.", pod_sets)
        self.assertIn("cohortName", self.kubectl("explain", "cq.spec"))
        old = self.kubectl("explain", "cq.spec", "--api-version=kueue.x-k8s.io/v1beta1")
        self.assertRegex(old, r"cohort\t<string>")
        self.assertRegex(self.kubectl("explain", "job", "--recursive"),
                         r"template\t<\w+>(?s:.*)containers\t<\[\]\w+>")
        self.assertIn('field "bogus" does not exist', self.refused("explain", "pod.spec.bogus"))

    def test_explain_by_the_older_description(self):
        """Version 2, which clients ask for in protobuf."""
        self.needs(27)
        two = self.kubectl("explain", "job.spec", "--output=plaintext-openapiv2")
        self.assertRegex(two, r"parallelism\t<integer>")

    def test_documents(self):
        index = json.loads(self.kubectl("get", "--raw", "/openapi/v3"))["paths"]
        self.assertIn("apis/kueue.x-k8s.io/v1beta2", index)
        for entry in index.values():
            found = json.loads(self.kubectl("get", "--raw", entry["serverRelativeURL"]))
            self.assertEqual(found["openapi"], "3.0.0")
        self.assertIn("NotFound", self.refused("get", "--raw", "/openapi/v3/apis/none/v1"))

    def test_cluster(self):
        self.assertRegex(self.kubectl("cluster-info"), "is running at .*" + self.host.address)
        self.assertIn("readyz check passed", self.kubectl("get", "--raw", "/readyz?verbose"))
        node = self.kubectl("get", "nodes", "-o", "name").strip()
        self.assertRegex(self.kubectl("get", "nodes", "-o", "wide"), r"Ready +<none>")
        self.kubectl("cordon", node)
        self.assertIn("SchedulingDisabled", self.kubectl("get", node))
        self.kubectl("uncordon", node)
        self.kubectl("taint", "nodes", "--all", "e2e=yes:PreferNoSchedule")
        described = self.kubectl("describe", node)
        self.assertRegex(described, r"Taints: +e2e=yes:PreferNoSchedule")
        self.assertRegex(described, r"Allocatable:\n  cpu: ")
        self.kubectl("taint", "nodes", "--all", "e2e-")

    def test_both_versions(self):
        old = self.host.run("get", "clusterqueues.v1beta1.kueue.x-k8s.io", "cluster-queue", "-o",
                            "yaml")
        self.assertIn("apiVersion: kueue.x-k8s.io/v1beta1", old.stdout)
        self.assertIn("Warning: This version is deprecated. Use v1beta2 instead.", old.stderr)

    def test_selectors_chunks_and_sorting(self):
        for number in range(7):
            self.kubectl("create", "-f", "-", stdin=config_map(
                f"sel-{number}", str(9 - number), odd="yes" if number % 2 else "no"))
        self.assertEqual(len(self.kubectl("get", "cm", "-l", "odd=yes", "-o", "name").split()), 3)
        self.assertEqual(len(self.kubectl("get", "cm", "-l", "odd in (yes,no)", "-o", "name",
                                          "--chunk-size=2").split()), 7)
        self.assertEqual(self.kubectl("get", "cm", "--field-selector=metadata.name=sel-3", "-o",
                                      "name").strip(), "configmap/sel-3")
        self.assertIn("field label not supported",
                      self.refused("get", "cm", "--field-selector=data.key=1"))
        listed = self.kubectl("get", "cm", "-l", "odd", "--sort-by={.data.key}", "--show-labels",
                              "-L", "odd")
        self.assertLess(listed.index("sel-6"), listed.index("sel-0"))
        self.assertIn("odd=yes", listed)

    def test_watch(self):
        watch = self.host.background("get", "cm", "-l", "watched", "-w", "--output-watch-events")
        try:
            self.kubectl("create", "-f", "-", stdin=config_map("watched", watched="yes"))
            self.assertRegex(watch.stdout.readline(), r"EVENT +NAME +DATA +AGE")
            self.assertRegex(watch.stdout.readline(), r"ADDED +watched +1 ")
            self.kubectl("annotate", "cm", "watched", "a=b")
            self.assertRegex(watch.stdout.readline(), r"MODIFIED +watched +1 ")
            self.kubectl("label", "cm", "watched", "watched-")
            self.assertRegex(watch.stdout.readline(), r"DELETED +watched +1 ")
        finally:
            watch.kill()
            watch.communicate()

    def test_watch_as_table(self):
        watch = self.host.background("get", "ns", "tabled", "-w", "--ignore-not-found")
        watch.communicate(timeout=300)
        self.kubectl("create", "ns", "tabled")
        watch = self.host.background("get", "ns", "tabled", "-w")
        try:
            self.assertRegex(watch.stdout.readline(), r"NAME +STATUS +AGE")
            self.assertRegex(watch.stdout.readline(), r"tabled +Active")
            self.kubectl("label", "ns", "tabled", "a=b")
            self.assertRegex(watch.stdout.readline(), r"tabled +Active")
        finally:
            watch.kill()
            watch.communicate()

    def test_raw_and_health(self):
        self.assertEqual(self.kubectl("get", "--raw", "/readyz"), "ok")
        self.assertIn("[+]store ok", self.kubectl("get", "--raw", "/readyz?verbose"))
        self.assertIn("ok", self.kubectl("get", "--raw", "/livez"))
        self.assertIn("running at", self.kubectl("cluster-info"))

    def test_errors(self):
        self.assertIn('Error from server (NotFound): clusterqueues.kueue.x-k8s.io "x" not found',
                      self.refused("get", "cq", "x"))
        self.assertIn('doesn\'t have a resource type "nothing"', self.refused("get", "nothing"))


class Writing(Kubectl):
    def test_generate_name(self):
        named = json.loads(config_map("x"))
        named["metadata"] = {"generateName": "generated-", "labels": {"generated": "yes"}}
        made = {self.kubectl("create", "-f", "-", "-o", "name", stdin=json.dumps(named)).strip()
                for _ in range(3)}
        self.assertEqual(len(made), 3)
        for each in made:
            self.assertRegex(each, r"^configmap/generated-[a-z0-9]{5}$")
        self.kubectl("delete", "cm", "-l", "generated=yes")

    def test_pipes(self):
        """What a client makes itself, and what the server gives back, can be applied."""
        made = self.kubectl("create", "cm", "piped", "--from-literal=a=b", "--dry-run=client",
                            "-o", "yaml")
        self.kubectl("apply", "-f", "-", stdin=made)
        back = self.kubectl("get", "cm", "piped", "-o", "yaml")
        self.assertIn("configmap/piped", self.kubectl("apply", "-f", "-", stdin=back))
        self.assertIn("a: b", self.kubectl("apply", "view-last-applied", "cm/piped"))
        self.kubectl("delete", "-f", "-", stdin=back)
        several = "---\n" + "\n---\n".join([config_map("piped-1"), config_map("piped-2")])
        self.kubectl("apply", "-f", "-", stdin=several)
        self.kubectl("delete", "-f", "-", stdin=several)

    def test_create_typed(self):
        """Go clients send protobuf here."""
        self.kubectl("create", "ns", "typed")
        self.kubectl("create", "configmap", "typed", "--from-literal=a=b", "-n", "typed")
        self.assertEqual(self.host.json("get", "cm", "typed", "-n", "typed")["data"], {"a": "b"})
        self.kubectl("create", "secret", "generic", "typed", "--from-literal=a=b", "-n", "typed")
        self.kubectl("create", "job", "typed", "--image=x", "-n", "typed", "--", "true")
        self.kubectl("create", "priorityclass", "typed", "--value=7")
        self.kubectl("create", "serviceaccount", "typed", "-n", "typed")
        self.kubectl("create", "role", "typed", "--verb=get", "--resource=pods", "-n", "typed")
        self.kubectl("create", "rolebinding", "typed", "--role=typed", "--user=u", "-n", "typed")
        self.assertIn("AlreadyExists", self.refused("create", "ns", "typed"))
        self.kubectl("delete", "ns", "typed")
        self.assertIn("NotFound", self.refused("get", "cm", "typed", "-n", "typed"))

    def test_apply(self):
        text = config_map("applied", "one")
        self.assertIn("created", self.kubectl("apply", "-f", "-", stdin=text))
        self.assertIn("unchanged", self.kubectl("apply", "-f", "-", stdin=text))
        version = self.host.json("get", "cm", "applied")["metadata"]["resourceVersion"]
        text = config_map("applied", "two")
        self.assertEqual(self.host.run("diff", "-f", "-", stdin=text).returncode, 1)
        self.assertEqual(
            version, self.host.json("get", "cm", "applied")["metadata"]["resourceVersion"])
        self.assertIn("configured", self.kubectl("apply", "-f", "-", stdin=text))
        self.assertEqual(self.host.json("get", "cm", "applied")["data"]["key"], "two")
        self.assertEqual(self.host.run("diff", "-f", "-", stdin=text).returncode, 0)

    def test_apply_of_a_custom_kind(self):
        one = WORKLOAD.format(version="v1beta2", name="custom", app="one")
        two = WORKLOAD.format(version="v1beta2", name="custom", app="two")
        self.kubectl("apply", "-f", "-", stdin=one)
        self.assertIn("unchanged", self.kubectl("apply", "-f", "-", stdin=one))
        self.assertIn("configured", self.kubectl("apply", "-f", "-", stdin=two))
        labels = self.host.json("get", "workload", "custom")["metadata"]["labels"]
        self.assertEqual(labels["app"], "two")
        old = WORKLOAD.format(version="v1beta1", name="custom-old", app="one")
        self.assertIn("created", self.kubectl("apply", "-f", "-", stdin=old))

    def test_apply_of_v1beta1_checks(self):
        """As a list and as a strategy: the same manifest again changes nothing, a check that is
        added is there, and what is taken out of the manifest is gone."""
        forms = (lambda names: f"admissionChecks: [{', '.join(names)}]",
                 lambda names: "admissionChecksStrategy: {admissionChecks: [" +
                 ", ".join(f"{{name: {name}}}" for name in names) + "]}")
        server = ["--server-side"]
        for number, (form, how) in enumerate((form, how) for form in forms for how in ([], server)):
            name = f"checked-{number}"

            def manifest(*names):
                return (f"apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\n"
                        f"metadata: {{name: {name}}}\nspec:\n  namespaceSelector: {{}}\n" +
                        (f"  {form(names)}\n" if names else ""))

            def checks():
                strategy = self.host.json("get", "clusterqueue", name)["spec"].get(
                    "admissionChecksStrategy", {"admissionChecks": []})
                return [check["name"] for check in strategy["admissionChecks"]]
            with self.subTest(form=form(["one"]), how=how):
                for names in (["one"], ["one"], ["one", "two"]):
                    said = self.kubectl("apply", *how, "-f", "-", stdin=manifest(*names))
                    self.assertEqual(checks(), names, said)
                said = self.kubectl("apply", *how, "-f", "-", stdin=manifest("one", "two"))
                self.assertIn("serverside-applied" if how else "unchanged", said)
                diff = self.host.run("diff", *how, "-f", "-", stdin=manifest("one", "two"))
                self.assertEqual(diff.returncode, 0, diff.stdout + diff.stderr)
                self.kubectl("apply", *how, "-f", "-", stdin=manifest())
                self.assertEqual(checks(), [])

    def test_apply_of_a_list_of_checks_over_a_strategy(self):
        """What was made in v1beta2, without kubectl's record of what it applied."""
        self.kubectl("create", "-f", "-", stdin=(
            "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: made}\n"
            "spec: {namespaceSelector: {}, admissionChecksStrategy: {admissionChecks: "
            "[{name: one}]}}\n"))
        old = ("apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {name: made}\n"
               "spec: {namespaceSelector: {}, admissionChecks: [one]}\n")
        self.assertIn("configured", self.kubectl("apply", "-f", "-", stdin=old))
        self.assertIn("unchanged", self.kubectl("apply", "-f", "-", stdin=old))

    def test_server_side_apply(self):
        one = config_map("ssa", "one")
        self.kubectl("apply", "--server-side", "-f", "-", stdin=one)
        self.kubectl("apply", "--server-side", "-f", "-", stdin=one)
        conflict = self.refused("apply", "--server-side", "--field-manager=other", "-f", "-",
                                stdin=config_map("ssa", "two"))
        self.assertIn("conflict", conflict)
        self.kubectl("apply", "--server-side", "--field-manager=other", "--force-conflicts", "-f",
                     "-", stdin=config_map("ssa", "two"))
        self.assertEqual(self.host.json("get", "cm", "ssa")["data"]["key"], "two")

    def test_validation(self):
        wrong = config_map("bogus").replace('"data"', '"bogusField": 1, "data"')
        self.assertIn("bogusField", self.refused("apply", "-f", "-", stdin=wrong))
        self.assertIn("bogusField", self.refused("create", "-f", "-", stdin=wrong))
        if self.minor >= 25:
            done = self.host.run("create", "--validate=warn", "-f", "-", stdin=wrong)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("Warning", done.stderr)
            self.assertIn("bogusField", done.stderr)
            self.kubectl("delete", "cm", "bogus")
        self.kubectl("create", "--validate=false", "-f", "-", stdin=wrong)
        invalid = json.dumps({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue",
                              "metadata": {"name": "Wrong_Name"},
                              "spec": {"clusterQueue": "cluster-queue"}})
        self.assertIn("is invalid", self.refused("create", "-f", "-", stdin=invalid))

    def test_validation_of_jobs(self):
        wrong = JOB.format(name="wrong", script="true", cpu="1")
        wrong = wrong.replace("parallelism", "paralelism").replace("image:", "imag:")
        for how in ("create", "apply"):
            said = self.refused(how, "-f", "-", stdin=wrong)
            # Older clients find them themselves, by the server's description.
            self.assertRegex(said, r'unknown field "(spec\.)?paralelism"')
            self.assertRegex(said, r'unknown field "(spec\.template\.spec\.containers\[0]\.)?imag"')
        self.assertIn("NotFound", self.refused("get", "job", "wrong"))
        twice = JOB.format(name="wrong", script="true", cpu="1").replace(
            "restartPolicy: Never", "restartPolicy: Sometimes")
        said = self.refused("create", "-f", "-", stdin=twice)
        self.assertIn('The Job "wrong" is invalid', said)
        self.assertIn('spec.template.spec.restartPolicy: Unsupported value: "Sometimes"', said)

    def test_dry_run(self):
        self.kubectl("apply", "-f", "-", "--dry-run=client", stdin=config_map("dry"))
        self.kubectl("create", "-f", "-", "--dry-run=server", stdin=config_map("dry"))
        self.assertIn("NotFound", self.refused("get", "cm", "dry"))
        self.kubectl("create", "-f", "-", stdin=config_map("dry"))
        self.kubectl("delete", "cm", "dry", "--dry-run=server")
        self.kubectl("apply", "-f", "-", "--dry-run=server", stdin=config_map("dry", "other"))
        self.assertEqual(self.host.json("get", "cm", "dry")["data"]["key"], "v")

    def test_patch(self):
        self.kubectl("create", "-f", "-", stdin=config_map("patched"))
        self.kubectl("patch", "cm", "patched", "-p", '{"data":{"a":"1"}}')  # strategic
        self.kubectl("patch", "cm", "patched", "--type=merge", "-p", '{"data":{"b":"2"}}')
        self.kubectl("patch", "cm", "patched", "--type=json", "-p",
                     '[{"op":"replace","path":"/data/key","value":"w"}]')
        self.assertEqual(self.host.json("get", "cm", "patched")["data"],
                         {"a": "1", "b": "2", "key": "w"})
        self.assertIn("(Invalid)", self.refused("patch", "cm", "patched", "--type=json", "-p",
                                                '[{"op":"remove","path":"/data/none"}]')
                      .replace("The request is invalid", "(Invalid)"))
        self.assertIn("unsupported", self.refused("patch", "cq", "cluster-queue", "-p", "{}")
                      .lower().replace("not supported", "unsupported"))

    def test_patch_of_lists(self):
        service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "listed"},
                   "spec": {"ports": [{"name": "a", "port": 1}, {"name": "b", "port": 2}]}}
        self.kubectl("create", "-f", "-", stdin=json.dumps(service))
        self.kubectl("patch", "svc", "listed", "-p",
                     '{"spec":{"ports":[{"port":2,"name":"c"},{"port":3,"name":"d"}]}}')
        ports = self.host.json("get", "svc", "listed")["spec"]["ports"]
        self.assertEqual(sorted((port["port"], port["name"]) for port in ports),
                         [(1, "a"), (2, "c"), (3, "d")])
        self.kubectl("patch", "svc", "listed", "-p",
                     '{"spec":{"ports":[{"port":1,"$patch":"delete"}]}}')
        self.assertEqual(len(self.host.json("get", "svc", "listed")["spec"]["ports"]), 2)
        self.kubectl("delete", "svc", "listed")

    def test_patch_of_a_status(self):
        self.needs(24)
        text = WORKLOAD.format(version="v1beta2", name="patched", app="x")
        self.kubectl("create", "-f", "-", stdin=text)
        condition = {"type": "Seen", "status": "True", "reason": "Test", "message": "by a person",
                     "lastTransitionTime": "2026-01-01T00:00:00Z"}
        self.kubectl("patch", "workload", "patched", "--type=merge", "--subresource=status", "-p",
                     json.dumps({"status": {"conditions": [condition]}, "spec": {"active": False}}))
        path = "{.spec.active} {.status.conditions[?(@.type=='Seen')].message}"
        seen = self.kubectl("get", "workload", "patched", "--subresource=status", "-o",
                            "jsonpath=" + path)
        self.assertEqual(seen, "true by a person")
        self.kubectl("delete", "workload", "patched")

    def test_edit(self):
        self.kubectl("create", "-f", "-", stdin=config_map("edited", "before"))
        editor = os.path.join(self.host.folder, "editor")
        with open(editor, "w", encoding="utf-8") as out:
            out.write("#!/bin/sh\nsed -i s/before/after/ \"$1\"\n")
        os.chmod(editor, 0o755)
        self.kubectl("edit", "cm", "edited", KUBE_EDITOR=editor)
        self.assertEqual(self.host.json("get", "cm", "edited")["data"]["key"], "after")
        self.kubectl("annotate", "cq", "cluster-queue", "edited=before")
        self.kubectl("edit", "cq", "cluster-queue", KUBE_EDITOR=editor)
        queue = self.host.json("get", "cq", "cluster-queue")
        self.assertEqual(queue["metadata"]["annotations"]["edited"], "after")

    def test_replace(self):
        self.kubectl("create", "-f", "-", stdin=config_map("replaced"))
        self.kubectl("replace", "-f", "-", stdin=config_map("replaced", "new"))
        self.assertEqual(self.host.json("get", "cm", "replaced")["data"]["key"], "new")
        self.kubectl("replace", "--force", "-f", "-", stdin=config_map("replaced", "newer"))
        stale = json.loads(config_map("replaced", "stale"))
        stale["metadata"]["resourceVersion"] = "1"
        self.assertIn("Conflict", self.refused("replace", "-f", "-", stdin=json.dumps(stale)))

    def test_label_and_annotate(self):
        self.kubectl("create", "-f", "-", stdin=config_map("labelled"))
        self.kubectl("label", "cm", "labelled", "a=b", "c=d")
        self.kubectl("label", "cm", "labelled", "a-")
        self.kubectl("label", "cq", "cluster-queue", "e2e=yes")
        self.assertIn("already has a value", self.refused("label", "cm", "labelled", "c=e"))
        self.kubectl("annotate", "cm", "labelled", "note=some text")
        metadata = self.host.json("get", "cm", "labelled")["metadata"]
        self.assertEqual(metadata["labels"], {"c": "d"})
        self.assertEqual(metadata["annotations"]["note"], "some text")

    def test_scale(self):
        self.kubectl("create", "-f", "-",
                     stdin=JOB.format(name="scaled", script="true", cpu="100"))
        self.kubectl("scale", "job", "scaled", "--replicas=3")
        self.assertEqual(self.host.json("get", "job", "scaled")["spec"]["parallelism"], 3)
        self.kubectl("scale", "job", "scaled", "--current-replicas=3", "--replicas=2")
        self.assertEqual(self.host.json("get", "job", "scaled")["spec"]["parallelism"], 2)
        self.kubectl("delete", "job", "scaled")
        self.assertIn("could not find the requested resource",
                      self.refused("scale", "cq", "cluster-queue", "--replicas=2"))

    def test_delete(self):
        for number in range(5):
            self.kubectl("create", "-f", "-", stdin=config_map(f"gone-{number}", group="gone"))
        self.kubectl("delete", "cm", "gone-0")
        self.kubectl("delete", "cm", "gone-1", "--wait=false", "--cascade=orphan")
        self.kubectl("delete", "cm", "gone-2", "--now")
        self.kubectl("delete", "cm", "-l", "group=gone")
        self.assertEqual(self.kubectl("get", "cm", "-l", "group=gone", "-o", "name"), "")
        self.assertIn("NotFound", self.refused("delete", "cm", "gone-0"))
        self.kubectl("delete", "cm", "gone-0", "--ignore-not-found")
        self.kubectl("create", "ns", "emptied")
        for number in range(3):
            self.kubectl("create", "cm", f"all-{number}", "-n", "emptied")
        self.kubectl("delete", "cm", "--all", "-n", "emptied")
        self.assertEqual(self.kubectl("get", "cm", "-n", "emptied", "-o", "name"), "")

    def test_finalizers_and_wait(self):
        held = json.loads(config_map("held"))
        held["metadata"]["finalizers"] = ["example.com/hold"]
        self.kubectl("create", "-f", "-", stdin=json.dumps(held))
        self.kubectl("delete", "cm", "held", "--wait=false")
        self.assertIn("deletionTimestamp", self.host.json("get", "cm", "held")["metadata"])
        wait = self.host.background("wait", "--for=delete", "cm/held", "--timeout=180s")
        self.assertEqual(self.kubectl("patch", "cm", "held", "--type=merge", "-p",
                                      '{"metadata":{"finalizers":null}}'),
                         "configmap/held patched\n")
        said = wait.communicate(timeout=300)[1]
        if "no matching resources" not in said:  # an older client that came too late
            self.assertEqual(wait.returncode, 0, said)

    def test_wait_for_creation(self):
        self.needs(31)
        wait = self.host.background("wait", "--for=create", "cm/created-later", "--timeout=180s")
        self.kubectl("create", "-f", "-", stdin=config_map("created-later"))
        wait.communicate(timeout=300)
        self.assertEqual(wait.returncode, 0)

    def test_wait_for_json_path(self):
        self.needs(23)
        self.kubectl("create", "-f", "-", stdin=config_map("awaited"))
        wait = self.host.background("wait", "--for=jsonpath={.data.key}=done", "cm/awaited",
                                    "--timeout=180s")
        self.kubectl("patch", "cm", "awaited", "-p", '{"data":{"key":"done"}}')
        wait.communicate(timeout=300)
        self.assertEqual(wait.returncode, 0)


class Rights(Kubectl):
    def test_can_i(self):
        self.assertEqual(self.kubectl("auth", "can-i", "create", "jobs").strip(), "yes")
        if self.minor >= 28:
            self.assertIn("sluice-admin", self.kubectl("auth", "whoami"))
        self.assertIn("*.*", self.kubectl("auth", "can-i", "--list"))
        listed = self.kubectl("auth", "can-i", "--list", "--as", "nobody")
        self.assertIn("selfsubjectaccessreviews.authorization.k8s.io", listed)
        self.assertNotIn("*.*", listed)
        self.assertEqual(self.kubectl("auth", "can-i", "get", "pods", "--subresource=log").strip(),
                         "yes")

    def test_walls(self):
        for name in ("team-a", "team-b"):
            self.kubectl("create", "ns", name)
        self.kubectl("create", "rolebinding", "edit", "--clusterrole=edit", "--user=ann", "-n",
                     "team-a")
        ann = ["--as", "ann"]
        self.assertEqual(self.kubectl("auth", "can-i", "create", "jobs", "-n", "team-a", *ann)
                         .strip(), "yes")
        denied = self.host.run("auth", "can-i", "create", "jobs", "-n", "team-b", *ann)
        self.assertEqual((denied.returncode, denied.stdout.strip()), (1, "no"))
        self.kubectl("create", "-f", "-", "-n", "team-a", *ann, stdin=config_map("mine"))
        self.assertIn("mine", self.kubectl("get", "cm", "-n", "team-a", *ann))
        self.assertIn('User "ann" cannot list resource "configmaps"',
                      self.refused("get", "cm", "-n", "team-b", *ann))
        self.assertIn("Forbidden", self.refused("get", "cm", "-A", *ann))
        self.assertIn("Forbidden", self.refused("get", "cm", "-n", "team-b", "-w", *ann))
        self.assertIn("Forbidden", self.refused("create", "ns", "team-c", *ann))

    def test_wrong_credentials(self):
        done = self.host.run("get", "ns", "--token=wrong")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("logged in", done.stdout + done.stderr)


class Restart(Kubectl):
    def test_everything_is_there_again(self):
        self.kubectl("create", "-f", "-", stdin=config_map("kept", "value"))
        before = self.host.json("get", "cm", "kept")
        for how in ("SIGTERM", "SIGKILL"):
            self.host.stop(getattr(signal, how))
            self.host.start()
            self.assertEqual(self.host.json("get", "cm", "kept"), before)
            self.kubectl("create", "-f", "-", stdin=config_map("after-" + how.lower()))
            after = self.host.json("get", "cm", "after-" + how.lower())
            self.assertGreater(int(after["metadata"]["resourceVersion"]),
                               int(before["metadata"]["resourceVersion"]))


if __name__ == "__main__":
    main()
