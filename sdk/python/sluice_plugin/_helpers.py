"""What plugins do with objects again and again: times, amounts, conditions, owners."""

from __future__ import annotations

import datetime
import decimal
import re
from typing import Any, Dict, Optional

Json = Any
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)")
_AMOUNT = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(n|u|m|k|[KMGTPE]i|[MGTPE]|[eE][+-]?\d+)?")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


def parse_time(text: str) -> datetime.datetime:
    """A time as RFC 3339 writes it, `2026-01-01T00:00:00Z`. ValueError says what is wrong."""
    parts = _TIME.fullmatch(text)
    if parts is None:
        raise ValueError(f"{text!r} is no time; allowed: 2026-01-01T00:00:00Z")
    day, clock, fraction, zone = parts.groups()
    zone = "+00:00" if zone in "Zz" else zone
    micros = ((fraction or ".0")[1:] + "000000")[:6]
    return datetime.datetime.fromisoformat(f"{day}T{clock}.{micros}{zone}").astimezone(
        datetime.timezone.utc)


def time_text(time: datetime.datetime) -> str:
    """`2026-01-01T00:00:00Z`"""
    return time.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def from_nanoseconds(time: int) -> datetime.datetime:
    """Of ns since 1970 UTC, as Host.now() gives them, to the microsecond."""
    return _EPOCH + datetime.timedelta(microseconds=time // 1000)


def parse_quantity(text: Any) -> decimal.Decimal:
    """An amount as Kubernetes writes it: `500m`, `1.5`, `2Gi`, `1e3`, or a number. ValueError says
    what is wrong."""
    parts = _AMOUNT.fullmatch(str(text))
    if parts is None:
        raise ValueError(f"{text!r} is no amount; allowed: 2, 500m, 2Gi")
    number, suffix = decimal.Decimal(parts.group(1)), parts.group(2) or ""
    if suffix.endswith("i"):
        return number * 1024 ** ("KMGTPE".index(suffix[0]) + 1)
    if suffix[:1] in ("e", "E") and suffix[1:]:
        return number.scaleb(int(suffix[1:]))
    return number.scaleb(_DECIMAL[suffix])


def find_condition(obj: Dict[str, Json], kind: str) -> Optional[Dict[str, Json]]:
    """The condition of that type in status.conditions."""
    for condition in (obj.get("status") or {}).get("conditions") or ():
        if condition.get("type") == kind:
            return condition
    return None


def true_since(obj: Dict[str, Json], kind: str) -> Optional[datetime.datetime]:
    """Since when the condition is True; None when it is not."""
    found = find_condition(obj, kind)
    if found is None or found.get("status") != "True":
        return None
    return parse_time(found["lastTransitionTime"])


def set_condition(obj: Dict[str, Json], kind: str, status: str, reason: str, message: str,
                  now: datetime.datetime) -> bool:
    """Sets a condition in status.conditions; its lastTransitionTime is `now` when its status is
    another one than before. False: all of it was there already, so nothing has to be written."""
    before = find_condition(obj, kind) or {}
    said = {"type": kind, "status": status, "reason": reason, "message": message}
    if all(before.get(key) == value for key, value in said.items()):
        return False
    if before.get("status") == status and "lastTransitionTime" in before:
        said["lastTransitionTime"] = before["lastTransitionTime"]
    else:
        said["lastTransitionTime"] = time_text(now)
    status_of = obj.setdefault("status", {})
    others = [each for each in status_of.get("conditions") or () if each.get("type") != kind]
    status_of["conditions"] = others + [said]
    return True


def owner_reference(owner: Dict[str, Json], controller: bool = True) -> Dict[str, Json]:
    """For metadata.ownerReferences of what goes when `owner` does."""
    out = {"apiVersion": owner["apiVersion"], "kind": owner["kind"],
           "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}
    return {**out, "controller": True, "blockOwnerDeletion": True} if controller else out


def controller_of(obj: Dict[str, Json]) -> Optional[Dict[str, Json]]:
    """The owner reference of who controls the object."""
    for owner in obj["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            return owner
    return None
