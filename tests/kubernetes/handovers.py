#!/usr/bin/env python3
"""Random stories of handovers on a real control plane: Kueue's released manager decides, is killed
or stopped, `sluice controller` takes over, is killed and started anew, gives back, and so on, while
jobs, pods, groups and sets of pods come, change and go, and queues stop, shrink and go on. A judge
looks at each version of each object (handover_judge.py); in the end all has to end, and to leave
nothing behind.

usage: handovers.py --sluice PROGRAM --programs FOLDER [--seeds N] [--from SEED] [--keep FOLDER]
       handovers.py --again FOLDER

--seeds N    how many stories (10)        --from SEED   the first one's seed (1)
--keep       where what is known of a story that went wrong is put: its history, logs and actions
--again      judges what was kept of a story, once more

What happens is drawn from the seed; real time makes two plays of a seed differ. Exits with 1 when a
story went wrong, but not for what Kueue wrote.
"""
import argparse
import collections
import json
import os
import random
import sys
import time
import traceback
import types

import build
from asked import JOBS
from client import await_account
from control_plane import ControlPlane
from controller import WORKLOADS, Controller, is_true
from handover_end import KUEUE, SLUICE, End
from handover_judge import Judge, Timed
from handover_work import Work
from handover_world import LABELS, World
from kubelet import NODE, Kubelet
from neighbour import NEEDS, Neighbour, may_run
from objects import install
from pods import PODS

NOBODY = "nobody"
FRAMEWORKS = ("batch/job", "pod", "statefulset", "deployment")
AT_A_TIME = 18  # workloads that are not finished, at most
FIRST_DECISION = 45  # seconds, on a busy machine
KILLED = 137


class Node(Kubelet):
    """Pods that are deleted have ended before they are gone, as a real node tells."""
    nodes = {NODE: LABELS["a"] | LABELS["b"]}

    def keep(self, pod):
        metadata = pod["metadata"]
        if "deletionTimestamp" in metadata and pod["status"].get("phase") == "Running" and \
                time.monotonic() >= self.ending.get(metadata["uid"], float("inf")):
            self.tell(f"{PODS}/{metadata['name']}", pod, "Failed", KILLED)
        super().keep(pod)

    def let_go(self, path, metadata):
        """Not in the round that sees it first."""
        if metadata["uid"] in self.ending:
            super().let_go(path, metadata)
        else:
            takes = float(metadata.get("annotations", {}).get("test/ends-in", "0"))
            self.ending[metadata["uid"]] = time.monotonic() + takes


class Story:
    def __init__(self, options, seed):
        self.options, self.seed = options, seed
        self.drawn = random.Random(seed)
        self.world = World(self.drawn)
        self.wrong, self.counts = [], collections.Counter()
        self.firsts = []  # (who, seconds until the first decision)
        self.turns, self.logs, self.versions, self.warned = [], [], [], []
        self.cluster = ControlPlane(build.find(options.programs, "control-plane"))
        self.decider = None  # who decides

    def play(self):
        try:
            with self.cluster:
                self.begin()
                with Node(self.api, cpu="64"):
                    try:
                        self.tell_it()
                    except AssertionError as error:
                        self.wrong.append("".join(traceback.format_exception(error)[-2:]))
                    self.judge()
                    self.stop(kill=True)
                    self.keep()
        finally:
            self.controller.stop()
            self.neighbour.process.stop(kill=True)
        return self

    def begin(self):
        self.api = self.cluster.api
        install(self.cluster, build.find(self.options.programs, "crds"))
        self.api.post("/api/v1/namespaces", {"metadata": {"name": "sluice-system"}})
        await_account(self.api, "default")
        self.neighbour = Neighbour(self.cluster, build.find(self.options.programs, "kueue"),
                                   FRAMEWORKS)
        self.controller = Controller(self.options.sluice, self.cluster, "admin", "--plugins",
                                     "flavor-fungibility,pod-groups")
        self.world.make(self.api)
        self.history = Timed(self.api)
        self.work = Work(self.api, self.drawn, self.world)

    # ---- who decides

    def note(self, text):
        self.work.done.append((self.work.version(), text))

    def start(self, who):
        self.turns.append((self.work.version(), who))
        self.note(f"{who} is started")
        self.decider = who
        if who == KUEUE:
            self.neighbour.process.start()
        else:
            self.controller.start(decides=False)

    def stop(self, kill):
        """What a killed one had sent may still be stored after it."""
        who, self.decider = self.decider, None
        if who is None:
            return
        if who == KUEUE:
            self.neighbour.process.stop(kill=kill)
        elif kill:
            self.controller.kill()
        else:
            code = self.controller.stop()
            if code != 0:
                self.wrong.append(f"Sluice ended with {code}: {self.controller.log()[-1500:]}")
        if who == SLUICE:
            self.logs.append(self.controller.log())
            self.warned += [line for line in self.logs[-1].splitlines()
                            if " warning " in line or " error " in line]
        time.sleep(0.3)
        self.turns.append((self.work.version(), NOBODY))
        self.note(f"{who} is {'killed' if kill else 'stopped'}")

    def lives(self):
        process = {KUEUE: self.neighbour.process, SLUICE: self.controller}.get(self.decider)
        if process and process.process.poll() is not None:
            raise AssertionError(f"{self.decider} ended by itself:\n{process.log()[-3000:]}")

    # ---- what happens

    def tell_it(self):
        drawn = self.drawn
        for turn in range(drawn.randint(4, 9)):
            self.turn((KUEUE, SLUICE)[turn % 2])
            self.counts["turns"] += 1
            if drawn.random() < 0.4:
                self.pass_time(drawn.uniform(0, 2))
        last = drawn.choice([KUEUE, SLUICE])
        self.start(last)
        self.pass_time(drawn.uniform(0, 4))
        End(self).all_ends()

    def pass_time(self, seconds, until=lambda: False):
        end = time.monotonic() + seconds
        while time.monotonic() < end and not until():
            time.sleep(self.drawn.uniform(0.02, 0.5))
            self.lives()
            self.work.answer_checks()
            self.work.act(min(AT_A_TIME, 4 + 2 * self.world.cpus()))

    def turn(self, who):
        drawn = self.drawn
        if drawn.random() < 0.8:
            self.begins_to_decide(who)
        else:
            self.start(who)
        self.pass_time(drawn.uniform(0.2, 7))
        if who == SLUICE and drawn.random() < 0.4:
            self.stop(kill=True)
            self.start(who)
            self.pass_time(drawn.uniform(0.2, 4))
            self.counts["restarts of Sluice"] += 1
        if drawn.random() < 0.6:  # in the midst of its writes
            self.note(self.work.burst())
            time.sleep(drawn.uniform(0, 0.6))
        self.stop(kill=drawn.random() < 0.65)

    def begins_to_decide(self, who):
        name = self.work.probe()
        uid = self.api.get(f"{JOBS}/{name}")["metadata"]["uid"]
        began = time.monotonic()

        def decided():
            return any(is_true(each, "Admitted") for each in self.api.items(
                f"{WORKLOADS}?labelSelector=kueue.x-k8s.io%2Fjob-uid%3D{uid}"))
        self.start(who)
        self.pass_time(FIRST_DECISION, decided)
        took = time.monotonic() - began
        self.firsts.append((who, took))
        if not decided():
            raise AssertionError(f"{who} did not let {name} in within {took:.0f} s")

    # ---- what is said of it

    def judge(self):
        try:
            versions = self.history.until_now()
        except AssertionError as error:
            self.wrong.append(str(error))
            return
        self.versions = versions
        judge = Judge(self.history, self.turns, self.work.disturbed)
        try:
            self.wrong += judge.judge(versions)
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            self.wrong.append("the judge: " + "".join(traceback.format_exception(error)))
        self.counts.update(judge.counts)
        self.counts["versions"] += len(versions)
        self.counts["jobs"] += len({each["metadata"]["uid"] for _, each, _ in versions
                                    if each["kind"] == "Job"})
        self.counts["pods"] += len({each["metadata"]["uid"] for _, each, _ in versions
                                    if each["kind"] == "Pod"})
        self.counts["actions"] += len(self.work.done)

    def keep(self):
        if not self.wrong or not self.options.keep:
            return
        folder = os.path.join(self.options.keep, str(self.seed))
        os.makedirs(folder, exist_ok=True)
        texts = {"wrong": "\n".join(self.wrong), "kueue.log": self.neighbour.process.log(),
                 "sluice.log": "\n---- next ----\n".join(self.logs),
                 "actions": "\n".join(f"{at} {text}" for at, text in self.work.done),
                 "world": self.world.told(),
                 "story": json.dumps({"begun": self.history.begun, "turns": self.turns,
                                      "disturbed": sorted(self.work.disturbed)}),
                 "history": "\n".join(
                     json.dumps([version, self.history.at.get(version), gone, thing])
                     for version, thing, gone in self.versions)}
        for name, text in texts.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
                out.write(text + "\n")


def judge_again(folder):
    """What was kept of a story."""
    with open(os.path.join(folder, "story"), encoding="utf-8") as text:
        story = json.load(text)
    with open(os.path.join(folder, "history"), encoding="utf-8") as text:
        lines = [json.loads(line) for line in text if line.strip()]
    history = types.SimpleNamespace(begun=story["begun"], at={line[0]: line[1] for line in lines})
    judge = Judge(history, story["turns"], set(story["disturbed"]))
    for each in judge.judge([(version, thing, gone) for version, _, gone, thing in lines]):
        print(each)
    print(dict(judge.counts))


def main():
    if sys.argv[1:2] == ["--again"]:
        judge_again(sys.argv[2])
        return
    if not may_run():
        build.skip(NEEDS)
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--from", type=int, default=1, dest="first")
    parser.add_argument("--keep")
    options = parser.parse_args()
    options.sluice = os.path.abspath(options.sluice)
    for name in ("control-plane", "crds", "kueue"):
        if not build.find(options.programs, name):
            build.skip(f"{name} is not built; ./dev test kubernetes does that")
    sums, failed, firsts = collections.Counter(), 0, []
    for seed in range(options.first, options.first + options.seeds):
        began = time.monotonic()
        story = Story(options, seed).play()
        sums.update(story.counts)
        firsts += story.firsts
        own = [each for each in story.wrong if each.startswith(KUEUE + ":")]
        failed += len(own) < len(story.wrong)
        sums["what Kueue did itself"] += len(own)
        print(f"story {seed}: {time.monotonic() - began:.0f} s, {story.world.told()}\n  "
              f"{dict(story.counts)}\n  first decisions "
              f"{[(who, round(took, 1)) for who, took in story.firsts]}", flush=True)
        for each in story.warned[:8]:
            print("  warned " + each[:300], flush=True)
        for each in story.wrong:
            print("  WRONG " + each, flush=True)
    print(f"{options.seeds} stories, {failed} went wrong: {dict(sums)}")
    for who in (KUEUE, SLUICE):
        took = sorted(each for whose, each in firsts if whose == who)
        if took:
            print(f"first decision of {who}: median {took[len(took) // 2]:.1f} s, "
                  f"longest {took[-1]:.1f} s, of {len(took)}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
