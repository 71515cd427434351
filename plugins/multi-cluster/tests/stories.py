#!/usr/bin/env python3
"""Random stories of a manager and three workers: jobs come, some change their size, some are
deleted, hosts are killed and come back, connections are slow, silent or cut, clocks are apart by
minutes.

    stories.py --sluice build/release/bin/sluice --e2e tests/e2e --clock build/…/clock.so
               [--stories 200] [--seed N]

What has to hold after each: every job ran to its end exactly once and nowhere twice at a time, of
those that were deleted too (then at most once); at a quiet moment in between the manager's queue
counts what was sent off, those of the workers what runs there, and a job that changed its size has
the same one at both; in the end nothing is left at any worker and nobody's quota is taken. A
story that fails names its seed.

In every third world a cluster that is lost for two seconds is given up. There a job may start more
than once, and in two places, as nobody can end what cannot be reached; all else has to hold.
"""
import argparse
import os
import random
import sys
import tempfile
import time

OPTIONS = argparse.ArgumentParser()
OPTIONS.add_argument("--sluice", required=True)
OPTIONS.add_argument("--e2e", required=True, help="the folder of host.py")
OPTIONS.add_argument("--clock", required=True, help="the library made of clock.c")
OPTIONS.add_argument("--stories", type=int, default=200)
OPTIONS.add_argument("--seed", type=int, default=1, help="of the first one")
OPTIONS = OPTIONS.parse_args()
sys.path.insert(0, OPTIONS.e2e)

# pylint: disable=wrong-import-position
from host import eventually
from places import JOBS, Places, is_true
from line import Line

STORIES_PER_WORLD = 10
CPUS = [2, 3, 4]
DISPATCHERS = ({}, {"dispatcher": "Incremental", "step": 1, "roundSeconds": 1},
               {"dispatcher": "Estimate", "roundSeconds": 2})


class World:
    """A manager, three workers, and the lines between them."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.folder = tempfile.TemporaryDirectory(prefix="sluice-clocks-")
        self.lines = []
        self.impatient = seed % 3 == 2
        self.places = Places(self.program, workers=3, cpus=CPUS, manager_cpus=sum(CPUS),
                             around=self.around, beside=["elastic-jobs"],
                             workerLostTimeoutSeconds=2 if self.impatient else 600,
                             **self.random.choice(DISPATCHERS))

    def program(self, name):
        """Runs a host whose clock is apart by up to five minutes. The allocator's thread waits for
        times of day, which the kernel compares with the true one: it would never sleep."""
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(f"#!/bin/sh\nLD_PRELOAD={os.path.abspath(OPTIONS.clock)} "
                      f"CLOCK_AHEAD={self.random.randint(-300, 300)} "
                      "MALLOC_CONF=background_thread:false "
                      f"exec {os.path.abspath(OPTIONS.sluice)} \"$@\"\n")
        os.chmod(path, 0o755)
        return path

    def around(self, index, worker):
        while len(self.lines) <= index:
            self.lines.append(Line(worker.host.port))
        return self.lines[index].port

    def close(self):
        self.places.__exit__()
        for line in self.lines:
            line.close()
        self.folder.cleanup()


class Story:
    def __init__(self, world, seed):
        self.world, self.places, self.seed = world, world.places, seed
        self.random = random.Random(seed)
        self.jobs, self.elastic, self.deleted = {}, {}, set()  # name → CPUs, name → pods
        self.go = os.path.join(self.places.folder, f"go{seed}")

    def hosts(self):
        return [self.places.manager, *self.places.workers]

    # ---- what happens

    def submit(self):
        if not self.places.manager.host.process:
            return
        name = f"s{self.seed}-{len(self.jobs)}"
        held = self.random.random() < 0.4
        self.jobs[name] = self.random.choice([1, 1, 2])
        self.places.submit(name, cpu=self.jobs[name], alone=not self.world.impatient, then=(
            f"until [ -e {self.go} ]; do sleep 0.05; done" if held
            else f"sleep {self.random.uniform(0, 0.6):.2f}"))

    def submit_elastic(self):
        if not self.places.manager.host.process or len(self.elastic) >= 2:
            return
        name = f"e{self.seed}-{len(self.elastic)}"
        self.elastic[name] = self.random.randint(1, 3)
        self.places.submit_elastic(name, self.elastic[name], self.go)

    def resize(self):
        if not self.places.manager.host.process or not self.elastic:
            return
        name = self.random.choice(sorted(self.elastic))
        self.elastic[name] = self.random.randint(1, 4)
        self.places.resize(name, self.elastic[name])

    def delete(self):
        left = sorted(set(self.jobs) - self.deleted)
        if not left or not self.places.manager.host.process or self.random.random() < 0.5:
            return
        name = self.random.choice(left)
        self.deleted.add(name)
        self.places.manager.rest.send("DELETE", f"{JOBS}/{name}")

    def kill(self):
        host = self.random.choice(self.hosts())
        if host.host.process:
            host.kill()
        if self.random.random() < 0.5:
            host.restart()

    def revive(self):
        for host in self.hosts():
            if not host.host.process:
                host.restart()

    def disturb(self):
        line = self.random.choice(self.world.lines)
        self.random.choice([line.cut, line.cut, line.silent,
                            lambda: line.slow(self.random.uniform(0.02, 0.3))])()

    def mend(self):
        self.random.choice(self.world.lines).mend()

    def play(self):
        events = [self.submit] * 6 + [self.submit_elastic] * 2 + [self.resize] * 3 + [
            self.kill, self.kill, self.revive, self.disturb, self.disturb, self.mend, self.delete]
        for _ in range(self.random.randint(15, 30)):
            self.random.choice(events)()
            time.sleep(self.random.choice([0, 0, 0.05, 0.2, 0.4]))
        self.revive()
        for line in self.world.lines:
            line.mend()

    # ---- what holds

    def sizes(self, place):
        """CPUs of each job with a workload there, and how many of them hold quota. Of a job that
        grows it is the larger one."""
        sizes, holding = {}, {}
        for workload in place.workloads().values():
            if is_true(workload, "Finished"):
                continue
            owners = workload["metadata"].get("ownerReferences")
            name = owners[0]["name"] if owners else workload["metadata"]["name"]
            pods = workload["spec"]["podSets"][0]
            requests = pods["template"]["spec"]["containers"][0]["resources"]["requests"]
            size = pods["count"] * int(requests["cpu"])
            sizes[name] = max(size, sizes.get(name, 0))
            if is_true(workload, "QuotaReserved"):
                holding[name] = max(size, holding.get(name, 0))
        return sizes, holding

    def quota_is_in_step(self):
        manager = self.places.manager
        copied = {name for worker in self.places.workers for name in worker.workloads()} | {
            name for worker in self.places.workers for name in worker.jobs()}
        reserved = self.sizes(manager)[1]
        names = {each["metadata"]["ownerReferences"][0]["name"]: name
                 for name, each in manager.workloads().items()
                 if is_true(each, "QuotaReserved") and not is_true(each, "Finished")}
        sent = sum(size for name, size in reserved.items() if {name, names.get(name)} & copied)
        return (manager.used() == sent == sum(reserved.values()) and
                all(worker.used() == sum(self.sizes(worker)[1].values())
                    for worker in self.places.workers))

    def slices_are_in_step(self):
        """What runs there is what is admitted here. (What waits here for its quota, or ended before
        it had any, nobody there has heard of.)"""
        def running(place, name):
            return [size for how, size in self.places.slices(place, name) if how == "Admitted"]
        return all(running(self.places.manager, name) ==
                   [size for worker in self.places.workers for size in running(worker, name)]
                   for name in self.elastic)

    def check(self):
        places = self.places
        eventually(self.quota_is_in_step, "quota is what was sent off")
        eventually(self.slices_are_in_step, "slices are the same at both")
        with open(self.go, "w", encoding="utf-8"):
            pass
        for name in sorted(set(self.jobs) - self.deleted) + sorted(self.elastic):
            places.wait_for_end(name)
        places.wait_quiet()
        for name in self.jobs:
            starts, ends = places.runs(name)
            wanted = [(1, 1)] if name not in self.deleted else [(0, 0), (1, 0), (1, 1)]
            right = (starts, ends) in wanted
            if self.world.impatient:
                right = starts >= ends >= (name not in self.deleted)
            assert right, f"{name}: {starts} starts, {ends} ends"
        eventually(lambda: not any(host.used() for host in self.hosts()), "all quota is free")

    def tell(self):
        """How it stands, for whoever looks for what went wrong."""
        places = self.places
        print(f"quota: {[host.used() for host in self.hosts()]}; copies: {places.copies()}",
              file=sys.stderr)
        for name in self.jobs:
            print(f"{name}: {places.workload(name).get('status')}", file=sys.stderr)
        for name in self.elastic:
            print(f"{name}: {self.elastic[name]}; "
                  f"{[places.slices(host, name) for host in self.hosts()]}", file=sys.stderr)
        print(places.manager.host.log()[-6000:], file=sys.stderr)


def main():
    world = None
    for seed in range(OPTIONS.seed, OPTIONS.seed + OPTIONS.stories):
        if world is None or seed % STORIES_PER_WORLD == 0:
            if world:
                world.close()
            world = World(seed // STORIES_PER_WORLD)
        story = Story(world, seed)
        try:
            story.play()
            story.check()
        except Exception:
            print(f"story {seed} failed; again: --seed {seed} --stories 1\n"
                  f"jobs {story.jobs}, deleted {sorted(story.deleted)}", file=sys.stderr)
            story.tell()
            world.close()
            raise
        print(f"story {seed}: {len(story.jobs)} jobs", flush=True)
    world.close()
    print(f"{OPTIONS.stories} stories: each job ran to its end, nothing was left")


if __name__ == "__main__":
    main()
