#!/usr/bin/env python3
"""The bill of materials of a package: an SPDX document (2.3, JSON) of the files that are in it, the
Debian packages whose libraries its programs load, and what was copied into its sources.

    sbom.py --version V --notices THIRD_PARTY_NOTICES.md --folder FOLDER --output FILE

FOLDER holds the files as they are installed. Names, versions and sources of libraries are those
that dpkg has on this machine. The same input gives the same document: its time is
SOURCE_DATE_EPOCH.
"""
import argparse
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys

LIBRARY = re.compile(r"Shared library: \[([^\]]+)\]")


def ask(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def files_below(folder):
    for where, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(where, name)
            if os.path.isfile(path) and not os.path.islink(path):
                yield os.path.relpath(path, folder), path


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def libraries_of(path):
    """Names of the libraries that a program or plugin asks for itself."""
    return LIBRARY.findall(ask("readelf", "-d", path))


def package_of(library):
    """Name, version, source and licence file of the Debian package that has the library."""
    paths = re.findall(rf"^\s*{re.escape(library)} .* => (\S+)$", ask("/sbin/ldconfig", "-p"),
                       re.MULTILINE)
    for path in paths:
        for each in (path, os.path.realpath(path), path.replace("/lib/", "/usr/lib/", 1)):
            found = subprocess.run(["dpkg-query", "-S", each], capture_output=True, text=True,
                                   check=False).stdout
            if found:
                name = found.split(": ", 1)[0].split(",")[0]
                form = "${Package}\t${Version}\t${source:Package}\t${source:Version}"
                return tuple(ask("dpkg-query", "-W", "-f", form, name).split("\t"))
    raise SystemExit(f"error: no Debian package has {library}")


def copied(notices):
    """(name, version, licence) of what was copied into the sources: `## NAME VERSION`, and its
    terms below."""
    with open(notices, encoding="utf-8") as text:
        for part in text.read().split("\n## ")[1:]:
            name, _, version = part.splitlines()[0].rpartition(" ")
            yield name, version, "MIT" if "The MIT License" in part else "NOASSERTION"


def spdx_id(*parts):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", "-".join(parts))


def document(options):
    files, needed, hashes = [], set(), []
    for name, path in files_below(options.folder):
        with open(path, "rb") as file:
            content = file.read()
        sha1, sha256 = hashlib.sha1(content).hexdigest(), hashlib.sha256(content).hexdigest()
        hashes.append(sha1)
        files.append({"fileName": f"./{name}", "SPDXID": spdx_id("File", name),
                      "checksums": [{"algorithm": "SHA1", "checksumValue": sha1},
                                    {"algorithm": "SHA256", "checksumValue": sha256}],
                      "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION"})
        if is_elf(path):
            needed.update(libraries_of(path))
    own = {"name": "sluice", "SPDXID": "SPDXRef-Package-sluice", "versionInfo": options.version,
           "downloadLocation": "NOASSERTION", "licenseDeclared": "Apache-2.0",
           "licenseConcluded": "Apache-2.0", "copyrightText": "NOASSERTION",
           "supplier": "Organization: Sluice maintainers", "filesAnalyzed": True,
           "packageVerificationCode": {"packageVerificationCodeValue": hashlib.sha1(
               "".join(sorted(hashes)).encode()).hexdigest()}}
    others = []
    for name, version, source, source_version in sorted({package_of(each) for each in needed}):
        others.append({
            "name": name, "SPDXID": spdx_id("Package", name), "versionInfo": version,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "sourceInfo": f"built from Debian source package {source} {source_version}",
            "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION",
            "copyrightText": "NOASSERTION", "supplier": "Organization: Debian",
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": f"pkg:deb/debian/{name}@{version}"}]})
    inside = [{"name": name, "SPDXID": spdx_id("Copied", name), "versionInfo": version,
               "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
               "licenseConcluded": licence, "licenseDeclared": licence,
               "copyrightText": "NOASSERTION"} for name, version, licence in
              copied(options.notices)]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", own["SPDXID"])]
    relations += [(own["SPDXID"], "DYNAMIC_LINK", each["SPDXID"]) for each in others]
    relations += [(own["SPDXID"], "CONTAINS", each["SPDXID"]) for each in [*inside, *files]]
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    when = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    digest = own["packageVerificationCode"]["packageVerificationCodeValue"]
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"sluice-{options.version}",
        "documentNamespace": f"https://sluice.dev/spdx/sluice-{options.version}-{digest}",
        "creationInfo": {"created": when.strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "creators": ["Tool: sluice packaging/sbom.py"]},
        "packages": [own, *others, *inside], "files": files,
        "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b}
                          for a, kind, b in relations]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", required=True)
    parser.add_argument("--notices", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--output", required=True)
    options = parser.parse_args()
    text = json.dumps(document(options), indent=1) + "\n"
    os.makedirs(os.path.dirname(options.output), exist_ok=True)
    with open(options.output, "w", encoding="utf-8") as out:
        out.write(text)


if __name__ == "__main__":
    sys.exit(main())
