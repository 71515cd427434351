"""A client that does no harm, while others do: one request after the other on one connection.

    with Bystander(host, lambda wire, number: wire.ask("GET", "/api/v1/namespaces")) as other:
        ...
    other.problems            # answers that were not 200 or 201, or what ended it
    other.report("meanwhile")
"""
import sys
import threading
import time

from wire import Wire

PAUSE = 0.002


class Bystander:
    def __init__(self, host, request):
        """`request(wire, number)` makes the number-th request and returns what wire.ask() does."""
        self.host, self.request = host, request
        self.stop = threading.Event()
        self.problems, self.times = [], []
        self.thread = threading.Thread(target=self.run)

    def run(self):
        try:
            with Wire(self.host) as wire:
                number = 0
                while not self.stop.wait(PAUSE):
                    number += 1
                    begin = time.monotonic()
                    status, _, answer = self.request(wire, number)
                    self.times.append(time.monotonic() - begin)
                    if status not in (200, 201):
                        self.problems.append((status, answer))
        except Exception as error:  # pylint: disable=broad-except
            self.problems.append(repr(error))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()

    def report(self, what):
        """For people; nothing is judged by it."""
        times = sorted(self.times)
        print(f"{what}: {len(times)} requests of others, median {times[len(times) // 2] * 1e3:.1f}"
              f" ms, worst {times[-1] * 1e3:.1f} ms", file=sys.stderr)
