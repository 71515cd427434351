"""What two definitions of a kind say of its fields, compared place by place."""

BOUNDS = {"int32": (-2 ** 31, 2 ** 31 - 1)}
FACETS = ("type", "format", "pattern", "minLength", "maxLength", "minItems", "maxItems",
          "maxProperties", "x-kubernetes-list-map-keys", "x-kubernetes-map-type",
          "x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields")
TEMPLATE = ".template."  # of pods: Kubernetes' own


def with_defaults(node, value):
    """The default with the defaults of everything below, as a server fills it in."""
    if isinstance(value, dict):
        value = dict(value)
        for name, field in (node.get("properties") or {}).items():
            if name not in value and "default" in field:
                value[name] = field["default"]
            if name in value:
                value[name] = with_defaults(field, value[name])
    return value


def facets(node):
    """What is said of one value, in one of the forms in which it can be said."""
    out = {key: node.get(key) for key in FACETS if key in node}
    low, high = BOUNDS.get(node.get("format"), (None, None))
    for key, bound in (("minimum", low), ("maximum", high)):
        if node.get(key, bound) != bound:
            out[key] = node[key]
    if "enum" in node:
        out["enum"] = sorted(node["enum"])
    if node.get("required"):
        out["required"] = sorted(node["required"])
    if "default" in node:
        value = with_defaults(node, node["default"])
        out["default"] = str(value) if node.get("x-kubernetes-int-or-string") else value
    if node.get("type") == "array":
        out["x-kubernetes-list-type"] = node.get("x-kubernetes-list-type", "atomic")
    return out


def places(node, path="", out=None):
    """The schema at each place: spec.podSets[].count."""
    out = {} if out is None else out
    out[path] = node
    for name, field in (node.get("properties") or {}).items():
        if path or name not in ("apiVersion", "kind", "metadata"):
            places(field, f"{path}.{name}" if path else name, out)
    for inner, mark in (("items", "[]"), ("additionalProperties", "{}")):
        if isinstance(node.get(inner), dict):
            places(node[inner], path + mark, out)
    return out


def versions(definition):
    return {each["name"]: places(each["schema"]["openAPIV3Schema"])
            for each in definition["spec"]["versions"]}


def outermost(paths):
    return sorted(path for path in paths
                  if not any(path != other and path.startswith(other) and path[len(other)] in ".[{"
                             for other in paths))


def difference(theirs, ours):
    """(missing places, added places, {place: {facet: (theirs, ours)}}) of one version."""
    missing = outermost(set(theirs) - set(ours))
    added = outermost(set(ours) - set(theirs))
    changed = {}
    for path in set(theirs) & set(ours):
        one, other = facets(theirs[path]), facets(ours[path])
        found = {key: (one.get(key), other.get(key)) for key in set(one) | set(other)
                 if one.get(key) != other.get(key)}
        if found:
            changed[path] = found
    return missing, added, changed
