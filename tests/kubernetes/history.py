"""Every version of some kinds' objects from a moment on, in the order of the store.

    history = History(api, WORKLOADS, JOBS)
    …
    for version, thing, gone in history.until_now():

What a watch tells comes later than what was done, and of one kind later than of another: so a
history is judged only as far as all of it was seen.
"""
import threading
import time

from client import eventually


class History:
    def __init__(self, api, *paths):
        """`begun`: what there was in the beginning, objects of the first path before others."""
        self.api, self.paths, self.begun = api, paths, []
        self.lock = threading.Lock()
        self.seen = {}  # resource version → (object, whether it is gone)
        self.last = {path: {} for path in paths}  # of what is there: uid → resource version
        version = None
        for path in paths:
            listed = api.get(path)
            version = version or listed["metadata"]["resourceVersion"]
            kind = {"kind": listed["kind"].removesuffix("List")}
            self.begun += [each | kind for each in listed["items"]]
            self.last[path] = versions_of(listed)
        for path in paths:  # the threads end with the process
            threading.Thread(target=self.follow, args=(path, version), daemon=True).start()

    def follow(self, path, version):
        while True:
            try:
                for event in self.api.watch(path + "?allowWatchBookmarks=true", version):
                    thing = event["object"]
                    version = thing["metadata"]["resourceVersion"]
                    if event["type"] != "BOOKMARK":
                        self.see(path, thing, event["type"] == "DELETED")
            except (OSError, KeyError, ValueError):
                time.sleep(0.1)  # the server is away, or the watch has ended

    def see(self, path, thing, gone):
        metadata = thing["metadata"]
        with self.lock:
            self.seen[int(metadata["resourceVersion"])] = (thing, gone)
            self.last[path][metadata["uid"]] = metadata["resourceVersion"]
            if gone:
                del self.last[path][metadata["uid"]]

    def until_now(self):
        """(version, object, whether it is gone) of all that was stored."""
        return eventually(self.complete, "all that is stored was seen")[0]

    def complete(self):
        """A tuple of it; None while something is still to come."""
        ends = []
        for path in self.paths:
            listed = self.api.get(path)
            with self.lock:
                if self.last[path] != versions_of(listed):
                    return None
            ends.append(int(listed["metadata"]["resourceVersion"]))
        with self.lock:
            return ([(version, *what) for version, what in sorted(self.seen.items())
                     if version <= min(ends)],)


def versions_of(listed):
    return {each["metadata"]["uid"]: each["metadata"]["resourceVersion"]
            for each in listed["items"]}
