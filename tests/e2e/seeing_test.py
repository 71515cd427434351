#!/usr/bin/env python3
"""What a person sees of a live host: metrics, health, explanations, `sluice submit`, the log.

    seeing_test.py --sluice build/dev/bin/sluice [TestClass.test_name …]
"""
import argparse
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import unittest
import urllib.error
import urllib.request

from host import Host, eventually, skip

OBJECTS = """
apiVersion: v1
kind: Namespace
metadata: { name: team-a }
---
apiVersion: v1
kind: Namespace
metadata: { name: team-b }
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: { name: spot }
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: { name: shared }
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors:
    - name: spot
      resources: [{ name: cpu, nominalQuota: 4 }]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: { name: main, namespace: team-a }
spec: { clusterQueue: shared }
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: { name: main, namespace: team-b }
spec: { clusterQueue: shared }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: team-a, namespace: team-a }
subjects: [{ kind: User, name: alice, apiGroup: rbac.authorization.k8s.io }]
roleRef: { kind: ClusterRole, name: edit, apiGroup: rbac.authorization.k8s.io }
"""

CONFIG = """
executor:
  type: local
  nodes: [{ name: here, capacity: { cpu: 16 } }]
"""

SAMPLE = re.compile(r'^([a-zA-Z_:][\w:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\]|\\.)*",?)*)\})? (\S+)$')


def read_samples(text):
    """{name{labels}: value}; what is not in Prometheus's text format is an error."""
    samples = {}
    for line in text.splitlines():
        if line.startswith('#') or not line:
            continue
        found = SAMPLE.match(line)
        if not found:
            raise AssertionError(f'no sample: {line}')
        labels = sorted(re.findall(r'([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"', found[2] or ''))
        key = found[1] + '{' + ','.join(f'{k}={v}' for k, v in labels
                                        if k != 'replica_role') + '}'
        samples[key] = float(found[3])
    return samples


class Seeing(unittest.TestCase):
    sluice = ''

    @classmethod
    def setUpClass(cls):
        cls.holder = Host(cls.sluice, extra=CONFIG)
        cls.host = cls.holder.__enter__()
        cls.metrics_url = re.search(r'url=(http://\S+)/metrics', cls.host.log())[1]
        cls.host.kubectl('apply', '-f', '-', stdin=OBJECTS)

    @classmethod
    def tearDownClass(cls):
        cls.holder.__exit__()

    def run_command(self, *args, **environment):
        """The finished process."""
        return subprocess.run([self.sluice, *args], capture_output=True, text=True, timeout=180,
                              env=self.host.environment(**environment), cwd=self.host.folder,
                              check=False)

    def command(self, *args, code=0, **environment):
        done = self.run_command(*args, **environment)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def get(self, path):
        try:
            with urllib.request.urlopen(self.metrics_url + path, timeout=180) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def samples(self):
        status, text = self.get('/metrics')
        self.assertEqual(status, 200)
        return read_samples(text)

    def end(self, job, ns):
        """The job goes, and with its workload what it held and who it was."""
        self.host.kubectl('delete', 'job', job, '-n', ns)
        eventually(lambda: not self.workloads_of(job, ns), f'the workload of {job} is gone')

    def workloads_of(self, job, ns):
        """Names."""
        return [each['metadata']['name'] for each in
                self.host.json('get', 'workloads', '-n', ns)['items']
                if each['metadata']['ownerReferences'][0]['name'] == job]

    def fill(self):
        """team-b holds the whole quota until the test is over."""
        name = self.command('submit', '--queue', 'main', '-n', 'team-b', '--cpu', '4', '--',
                            'sleep', '600').stdout.strip().split('/')[1]
        self.addCleanup(self.end, name, 'team-b')
        eventually(lambda: self.host.json('get', 'job', name, '-n', 'team-b')['status']
                   .get('active'), 'the job of team-b runs')
        return name

    def waiting(self):
        holder = self.fill()
        name = self.command('submit', '--queue', 'main', '-n', 'team-a', '--cpu', '3', '--',
                            'true').stdout.strip().split('/')[1]
        self.addCleanup(self.end, name, 'team-a')
        eventually(lambda: 'Pending, WaitingForQuota' in self.run_command(
            'explain', f'team-a/job/{name}').stdout, 'the job of team-a waits')
        return holder, name


class Metrics(Seeing):
    def test_health(self):
        for path in ('/livez', '/readyz', '/healthz'):
            self.assertEqual(self.get(path), (200, 'ok'))
        self.assertIn('[+]store ok', self.get('/readyz?verbose')[1])
        self.assertEqual(self.get('/api/v1/pods')[0], 404)

    def test_values_after_a_job(self):
        self.command('submit', '--queue', 'main', '-n', 'team-a', '--cpu', '1', '--wait', '--',
                     'true')
        queue = '{cluster_queue=shared,priority_class=}'
        eventually(lambda: self.samples().get(f'kueue_finished_workloads_total{queue}'),
                   'its end is counted')
        samples = self.samples()
        self.assertGreaterEqual(samples[f'kueue_admitted_workloads_total{queue}'], 1)
        self.assertEqual(samples['kueue_cluster_queue_status{cluster_queue=shared,status=active}'],
                         1)
        self.assertGreaterEqual(samples['kueue_admission_attempts_total{result=success}'], 1)
        self.assertGreaterEqual(
            samples['sluice_api_requests_total{code=201,resource=jobs,verb=create}'], 1)
        self.assertGreaterEqual(samples['sluice_store_commit_duration_seconds_count{}'], 1)
        self.assertEqual(samples['sluice_store_failed{}'], 0)
        self.assertEqual(samples['sluice_store_objects{group=kueue.x-k8s.io,resource='
                                 'clusterqueues}'], 1)

    def test_the_api_serves_them_to_whom_may_read_the_path(self):
        self.assertIn('kueue_build_info', self.host.kubectl('get', '--raw', '/metrics'))
        refused = self.host.run('get', '--raw', '/metrics', '--as=alice')
        self.assertIn('Forbidden', refused.stderr)

    def test_counters_go_on_over_a_reload(self):
        self.command('submit', '--queue', 'main', '-n', 'team-a', '--wait', '--', 'true')
        key = 'kueue_admitted_workloads_total{cluster_queue=shared,priority_class=}'
        before = self.samples()[key]
        self.host.port = 0  # as it was started: addresses stay
        self.host.write_config(self.host.store, self.host.extra)
        self.host.process.send_signal(signal.SIGHUP)
        eventually(lambda: 'the new configuration is in force' in self.host.log(), 'the reload')
        self.assertEqual(self.samples()[key], before)


class Explain(Seeing):
    def test_text_and_json(self):
        holder, name = self.waiting()
        text = self.command('explain', '-n', 'team-a', f'job/{name}').stdout
        self.assertIn(': Pending, WaitingForQuota', text)
        self.assertIn('1 of 1 in the ClusterQueue', text)
        self.assertRegex(text, rf'3 cpu more of flavor spot: held by team-b/job-{holder}-\w+ \(4\)')
        # The name of the job alone is enough.
        document = json.loads(self.command('explain', f'team-a/{name}', '-o', 'json').stdout)
        self.assertEqual(document['state'], 'Pending')
        flavor = document['podSets'][0]['resources'][0]['flavors'][0]
        self.assertEqual((flavor['flavor'], flavor['missing']), ('spot', '3'))

    def test_a_tenant_hears_no_names_of_others(self):
        holder, name = self.waiting()
        workload, = self.workloads_of(name, 'team-a')
        path = f'/apis/sluice.dev/v1alpha1/namespaces/team-a/workloads/{workload}/explain'
        seen = self.host.kubectl('get', '--raw', path, '--as=alice')
        self.assertNotIn('team-b', seen)
        self.assertIn('1 workload of other namespaces (4)', seen)
        self.assertIn('team-b', self.host.kubectl('get', '--raw', path))
        other, = self.workloads_of(holder, 'team-b')
        refused = self.host.run('get', '--raw', '/apis/sluice.dev/v1alpha1/namespaces/team-b/'
                                f'workloads/{other}/explain', '--as=alice')
        self.assertIn('Forbidden', refused.stderr)

    def test_mistakes_are_told(self):
        missing = self.command('explain', 'team-a/nothing', code=1).stderr
        self.assertIn('error: there is no workload team-a/nothing', missing)
        self.assertIn('allowed:', self.command('explain', 'a/b/c/d', code=1).stderr)
        self.assertIn('the server knows no kind "b"',
                      self.command('explain', 'a/b/c', code=1).stderr)

    def test_a_job_without_a_workload_says_why(self):
        for label, said in (('prebuilt-workload-name', "The prebuilt workload none doesn't exist"),
                            ('priority-class', "WorkloadPriorityClass none doesn't exist")):
            name = f'no-{label}'
            self.host.kubectl('apply', '-f', '-', stdin=json.dumps({
                'apiVersion': 'batch/v1', 'kind': 'Job', 'metadata': {
                    'name': name, 'namespace': 'team-a', 'labels': {
                        'kueue.x-k8s.io/queue-name': 'main', f'kueue.x-k8s.io/{label}': 'none'}},
                'spec': {'template': {'spec': {'restartPolicy': 'Never', 'containers': [{
                    'name': 'c', 'image': 'none',
                    'resources': {'requests': {'cpu': '1'}}}]}}}}))
            self.addCleanup(self.host.kubectl, 'delete', 'job', '-n', 'team-a', name)
            eventually(lambda job=name, text=said: text in self.command(
                'explain', '-n', 'team-a', f'job/{job}', code=1).stderr, said)

    def test_pending_workloads(self):
        self.waiting()
        for version in ('v1beta1', 'v1beta2'):
            seen = json.loads(self.host.kubectl(
                'get', '--raw', f'/apis/visibility.kueue.x-k8s.io/{version}/clusterqueues/shared/'
                'pendingworkloads'))
            self.assertEqual(len(seen['items']), 1)
            self.assertEqual(seen['items'][0]['localQueueName'], 'main')


WANTED = """
apiVersion: batch/v1
kind: Job
metadata: { name: wanted, labels: { kueue.x-k8s.io/queue-name: main } }
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{ name: c, image: none, command: ['true'], resources: { requests: { cpu: 3 } } }]
"""

QUOTA = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: { name: shared }
spec:
  stopPolicy: HoldAndDrain
"""


class WhatIf(Seeing):
    def question(self, text, name='question.yaml'):
        path = os.path.join(self.host.folder, name)
        with open(path, 'w', encoding='utf-8') as out:
            out.write(text)
        return path

    def ask(self, *args, **more):
        return self.command('what-if', '-f', self.question(WANTED), '-n', 'team-a', *args, **more)

    def test_a_job_that_would_start(self):
        before = self.host.kubectl('get', 'jobs,workloads', '-A', '-o', 'name')
        text = self.ask().stdout
        self.assertIn('Job team-a/wanted: would start now\n', text)
        self.assertIn('3 cpu of flavor spot', text)
        document = json.loads(self.ask('-o', 'json').stdout)
        self.assertEqual(document['status']['workloads'][0]['decision'], 'Starts')
        self.assertIn('decision: Starts', self.ask('-o', 'yaml').stdout)
        self.assertEqual(self.host.kubectl('get', 'jobs,workloads', '-A', '-o', 'name'), before)

    def test_a_job_that_would_wait(self):
        self.fill()
        text = self.ask().stdout
        self.assertIn('Job team-a/wanted: would wait\n', text)
        self.assertIn('unknown: 1 running job says no run time', text)
        self.assertIn('3 cpu more of flavor spot: held by team-b/', text)

    def test_a_change_of_a_queue(self):
        holder = self.fill()
        text = self.command('what-if', '-f', self.question(QUOTA)).stdout
        self.assertRegex(text, rf'WOULD BE EVICTED[^\n]*\n *team-b/job-{holder}-\w+ +Job {holder}')
        self.assertIn('ClusterQueueStopped', text)

    def test_a_namespace_takes_with_it_what_runs_there(self):
        holder = self.fill()
        question = self.question('apiVersion: v1\nkind: Namespace\nmetadata: {name: team-b}\n')
        text = self.command('what-if', '--delete', '-f', question).stdout
        self.assertRegex(text, rf'WOULD END[^\n]*\n *team-b/job-{holder}-\w+ +Job {holder} +shared '
                               r'+Deleted')

    def test_a_tenant_asks_with_his_rights(self):
        self.fill()
        question = self.question(json.dumps({
            'apiVersion': 'sluice.dev/v1alpha1', 'kind': 'WhatIf', 'spec': {
                'namespace': 'team-a',
                'objects': [{'apiVersion': 'batch/v1', 'kind': 'Job', 'metadata': {
                    'name': 'wanted', 'labels': {'kueue.x-k8s.io/queue-name': 'main'}}, 'spec': {
                        'template': {'spec': {'restartPolicy': 'Never', 'containers': [{
                            'name': 'c', 'image': 'none',
                            'resources': {'requests': {'cpu': '3'}}}]}}}}]}}))
        path = '/apis/sluice.dev/v1alpha1/whatifs'
        seen = self.host.kubectl('create', '--raw', path, '-f', question, '--as=alice')
        self.assertNotIn('team-b', seen)
        self.assertIn('1 workload of other namespaces (4)', seen)
        self.assertIn('team-b', self.host.kubectl('create', '--raw', path, '-f', question))
        refused = self.host.run('create', '--raw', path, '-f', question, '--as=mallory')
        self.assertIn('cannot create resource "jobs"', refused.stderr)

    def test_all_that_wait_in_a_queue(self):
        empty = self.command('what-if', '--clusterqueue', 'shared').stdout
        self.assertIn('Nothing waits there', empty)
        _, name = self.waiting()
        table = self.command('what-if', '-n', 'team-a', '--queue', 'main').stdout
        self.assertEqual(self.command('what-if', '--queue', 'team-a/main').stdout, table)
        self.assertRegex(table, r'WORKLOAD +START\n')
        self.assertIn(name, table)
        self.assertEqual(self.command('what-if', '--clusterqueue', 'shared').stdout, table)

    def test_a_queue_that_is_not_there(self):
        told = self.command('what-if', '--clusterqueue', 'nope', code=1).stderr
        self.assertIn('clusterqueues.kueue.x-k8s.io "nope" not found', told)
        self.assertIn('say what is asked about', self.command('what-if', code=1).stderr)

    def test_mistakes_are_told(self):
        wrong = self.question(WANTED.replace('Never', 'Always'), 'wrong.yaml')
        told = self.command('what-if', '-f', wrong, '-n', 'team-a', code=1).stderr
        self.assertIn('restartPolicy', told)
        self.assertIn('names no object', self.command('what-if', '-f', self.question('# nothing'),
                                                      code=1).stderr)


class Submit(Seeing):
    def test_output_and_exit_status(self):
        good = self.command('submit', '--queue', 'main', '-n', 'team-a', '--logs', '--',
                            'echo', 'hello')
        self.assertEqual(good.stdout, 'hello\n')
        self.assertIn('succeeded', good.stderr)
        bad = self.command('submit', '--queue', 'main', '-n', 'team-a', '--wait', '--',
                           'sh', '-c', 'exit 3', code=1)
        self.assertRegex(bad.stderr, r'failed: .*ended with exit status 3')

    def test_a_host_that_is_restarted_is_waited_for(self):
        go = os.path.join(self.host.folder, 'go')
        waiting = subprocess.Popen(
            [self.sluice, 'submit', '--queue', 'main', '-n', 'team-a', '--logs', '--kubeconfig',
             self.host.kubeconfig, '--', 'sh', '-c',
             f'echo begun; until [ -e {go} ]; do sleep 0.1; done; echo done'],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(waiting.stdout.readline(), 'begun\n')
        self.host.stop()
        self.assertTrue(next(line for line in waiting.stderr if 'trying again' in line))
        self.host.start()
        with open(go, 'w', encoding='utf-8'):
            pass
        output, said = waiting.communicate(timeout=300)
        self.assertEqual(waiting.returncode, 0, said)
        self.assertIn('succeeded', said)
        self.assertEqual(output, 'done\n')  # what was shown before is not shown again

    def test_who_is_deactivated_is_not_waited_for(self):
        done = self.command('submit', '--queue', 'main', '-n', 'team-a', '--logs', '--max-time',
                            '1s', '--', 'sh', '-c', 'echo begun; exec sleep 600', code=1)
        self.assertEqual(done.stdout, 'begun\n')
        self.assertIn('failed: its workload was deactivated: '
                      'DeactivatedDueToMaximumExecutionTimeExceeded: ', done.stderr)

    def test_a_queue_that_is_not_there_is_told(self):
        done = self.command('submit', '--queue', 'nope', '-n', 'team-a', '--', 'true', code=1)
        self.assertIn('there is no LocalQueue nope in namespace team-a', done.stderr)
        self.assertIn('main', done.stderr)

    def test_a_namespace_that_is_not_there_is_told(self):
        for queue in ([], ['--queue', 'main']):
            done = self.command('submit', *queue, '-n', 'nons', '--', 'true', code=1)
            self.assertIn('there is no namespace nons', done.stderr)
            self.assertNotIn('LocalQueue', done.stderr)

    def test_a_priority_class_that_is_not_there_is_told(self):
        done = self.command('submit', '--queue', 'main', '-n', 'team-a', '--priority-class', 'high',
                            '--', 'true', code=1)
        self.assertIn('there is no WorkloadPriorityClass high; there are none', done.stderr)


class Service(unittest.TestCase):
    """The log, and what a service manager hears."""
    sluice = ''

    def test_start_and_stop(self):
        host = Host(self.sluice, extra=CONFIG)
        path = os.path.join(host.folder, 'notify')
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(path)
            manager.settimeout(180)
            os.environ['NOTIFY_SOCKET'] = path
            try:
                host.__enter__()
            finally:
                del os.environ['NOTIFY_SOCKET']
            try:
                self.assertEqual(manager.recv(100), b'READY=1')
                log = host.log()
                self.assertRegex(log, r'store: loaded path=\S+ objects=\d+ kinds=\d+ .*took_ms')
                self.assertRegex(log, r'info host: serving url=https://127\.0\.0\.1:\d+')
                self.assertEqual(host.stop(), 0)
                self.assertEqual(manager.recv(100), b'STOPPING=1')
                self.assertIn('host: ended', host.log())
            finally:
                host.__exit__()

    def test_a_log_of_json(self):
        host = Host(self.sluice, memory=True)
        try:
            done = subprocess.Popen(
                [self.sluice, 'serve', '--config', host.config, '--log-format', 'json'],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=host.folder)
            self.assertTrue(done.stdout.readline().startswith('ready https://'))
            done.send_signal(signal.SIGTERM)
            _, log = done.communicate(timeout=180)
            self.assertEqual(done.returncode, 0)
            lines = [json.loads(line) for line in log.splitlines()]
            self.assertEqual(lines[0]['message'], 'starting')
            self.assertEqual({'time', 'level', 'part', 'message'} - set(lines[0]), set())
        finally:
            host.__exit__()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--sluice', required=True)
    arguments, rest = parser.parse_known_args()
    if not shutil.which('kubectl'):
        skip('kubectl is not installed')
    Seeing.sluice = Service.sluice = os.path.abspath(arguments.sluice)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == '__main__':
    main()
