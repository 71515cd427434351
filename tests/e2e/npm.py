"""The npm packages of a test: installed into the build folder as the package-lock.json beside the
test says, once per content of that file."""
import fcntl
import hashlib
import os
import shutil
import subprocess

from host import skip


def install(source, build, more=()):
    """The folder with the packages, and with the modules (*.mjs) of `source` and `more` beside
    them, where they are looked for. Skips the test where npm is missing or cannot be reached."""
    for command in ("node", "npm"):
        if shutil.which(command) is None:
            skip(f"there is no {command} here (Debian: nodejs, npm)")
    name = os.path.basename(source)
    with open(os.path.join(source, "package-lock.json"), "rb") as lock:
        version = hashlib.sha256(lock.read()).hexdigest()[:16]
    folder = os.path.join(os.path.abspath(build), f"e2e-{name}-{version}")
    done = os.path.join(folder, "installed")
    modules = [os.path.join(source, each) for each in os.listdir(source) if each.endswith(".mjs")]
    # Tests that share a folder start side by side, and npm begins by deleting what is there.
    with open(folder + ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(done):
            fetch(source, folder)
            with open(done, "w", encoding="utf-8"):
                pass
        for module in [*modules, *more]:
            put(module, folder)
    return folder


def put(module, folder):
    """In one step: another test may be reading the one that is there."""
    fresh = os.path.join(folder, os.path.basename(module) + ".new")
    shutil.copy(module, fresh)
    os.replace(fresh, os.path.join(folder, os.path.basename(module)))


def fetch(source, folder):
    os.makedirs(folder, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(os.path.join(source, name), folder)
    try:
        npm = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
                             cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    except subprocess.TimeoutExpired:
        skip(f"npm did not answer; the packages of {source} are not here")
    if npm.returncode != 0:
        skip(f"npm cannot install the packages of {source}:\n" + npm.stderr[-2000:])


def browser_tests(source, build, what):
    """For tests in a browser: the options of their environment, and install()'s folder. Skips them
    where there is no browser; `what` then says which were not made."""
    browser = shutil.which("chromium")
    if browser is None:
        skip(f"{what}: there is no chromium here (Debian: chromium)")
    packages = install(source, build, more=[os.path.join(source, "..", "node", "host.mjs")])
    pictures = os.path.join(os.path.abspath(build), "web-pictures")
    os.makedirs(pictures, exist_ok=True)
    return {"WEB_BROWSER": browser, "WEB_PICTURES": pictures}, packages
