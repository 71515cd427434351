"""Makes the package's wheel (PEP 517) with nothing but the standard library, so that pip needs no
other package for it, and no network."""
import base64
import hashlib
import os
import re
import zipfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
FIRST_MOMENT = (1980, 1, 1, 0, 0, 0)  # the same bytes whenever it is made


def _stated(key):
    with open(os.path.join(FOLDER, "pyproject.toml"), encoding="utf-8") as text:
        return re.search(rf'^{key} = "(.*)"$', text.read(), re.MULTILINE)[1]


def _files():
    """Path in the wheel, and content."""
    package = os.path.join(FOLDER, "sluice_plugin")
    for name in sorted(os.listdir(package)):
        if name.endswith((".py", ".typed")):
            with open(os.path.join(package, name), "rb") as file:
                yield f"sluice_plugin/{name}", file.read()


def _about():
    with open(os.path.join(FOLDER, "README.md"), encoding="utf-8") as text:
        readme = text.read()
    return ("Metadata-Version: 2.1\n"
            f"Name: {_stated('name')}\nVersion: {_stated('version')}\n"
            f"Summary: {_stated('description')}\nLicense: Apache-2.0\n"
            f"Requires-Python: {_stated('requires-python')}\n"
            f"Description-Content-Type: text/markdown\n\n{readme}").encode()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """The name of the file that was written."""
    del config_settings, metadata_directory
    stem = f"{_stated('name').replace('-', '_')}-{_stated('version')}"
    info = f"{stem}.dist-info"
    files = list(_files())
    files.append((f"{info}/METADATA", _about()))
    files.append((f"{info}/WHEEL", b"Wheel-Version: 1.0\nGenerator: sluice\n"
                                   b"Root-Is-Purelib: true\nTag: py3-none-any\n"))
    record = ""
    for path, content in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(content)}\n"
    files.append((f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode()))
    name = f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in files:
            wheel.writestr(zipfile.ZipInfo(path, FIRST_MOMENT), content)
    return name
