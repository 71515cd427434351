#!/usr/bin/env python3
"""Makes the facts about a kind that the test of its page needs, from what its project publishes:
the places of the fields in the schema of its definition, and the shape of a sample. No texts are
kept.

    facts.py --project NAME --version VERSION DEFINITION.yaml SAMPLE.yaml > facts/KIND.json

A place that ends in # is a pod template, one that ends in ! takes any object.
"""
import argparse
import json
import re
import sys

import yaml

NAMES = ("apiVersion", "kind", "name", "groupName", "path", "type")


def is_template(schema):
    spec = schema.get("properties", {}).get("spec", {})
    return "containers" in spec.get("properties", {})


def fields(schema, place, out, deepest):
    """Appends the places below `schema`; a pod template is one place, marked with a hash."""
    if is_template(schema):
        out.append(place + "#")
        return
    if place:
        is_open = schema.get("x-kubernetes-preserve-unknown-fields")
        out.append(place + ("!" if is_open else ""))
    if place.count(".") + place.count("[") > deepest:
        return
    for name, inner in schema.get("properties", {}).items():
        if place or name in ("spec", "status"):
            fields(inner, f"{place}.{name}", out, deepest)
    for key, mark in (("items", "[*]"), ("additionalProperties", ".*")):
        if isinstance(schema.get(key), dict):
            fields(schema[key], place + mark, out, deepest)


def shape(value):
    """Numbers, booleans and names of an object, and the keys that lead there; a pod template
    becomes an empty one."""
    if isinstance(value, list):
        return [each for each in map(shape, value) if each not in (None, [])]
    if not isinstance(value, dict):
        is_size = isinstance(value, str) and re.fullmatch(r"\d+([kmgKMG]i?)?", value)
        return value if isinstance(value, (int, bool)) or is_size else None
    if "containers" in (value.get("spec") or {}):
        return {}
    out = {}
    for key, inner in value.items():
        kept = inner if key in NAMES and isinstance(inner, str) else shape(inner)
        if kept is not None and kept != [] and (kept != {} or shaped_template(inner)):
            out[key] = kept
    return out


def shaped_template(value):
    return isinstance(value, dict) and "containers" in (value.get("spec") or {})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--project", required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--names", nargs=2, metavar=("DEFINITION", "SAMPLE"),
                        help="what the two files are called in the project")
    parser.add_argument("--deepest", type=int, default=5, help="how many steps to go down")
    parser.add_argument("definition")
    parser.add_argument("sample")
    args = parser.parse_args()
    with open(args.definition, encoding="utf-8") as file:
        definition = next(each for each in yaml.safe_load_all(file) if each)
    kind = definition["spec"]["names"]["kind"]
    with open(args.sample, encoding="utf-8") as file:
        sample = next(each for each in yaml.safe_load_all(file) if each and each["kind"] == kind)
    version = sample["apiVersion"].split("/")[1]
    served = next(v for v in definition["spec"]["versions"] if v["name"] == version)
    found = []
    fields(served["schema"]["openAPIV3Schema"], "", found, args.deepest)
    names = args.names or [args.definition, args.sample]
    out = {"project": args.project, "version": args.version, "definition": names[0],
           "sample": names[1], "kind": kind, "served": version, "object": shape(sample),
           "fields": sorted(set(found))}
    json.dump(out, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
