"""Plugins for Sluice in Python, each in a process of its own.

A plugin is a class that derives from Plugin, and `main(Class)` at the end of its file. It provides
an extension point by having its method; the host says which of them are asked when.
"""

from ._answers import (Activity, CheckAnswer, FieldError, active, inactive, pending, ready,
                       rejected, retry)
from ._helpers import (controller_of, find_condition, from_nanoseconds, owner_reference,
                       parse_quantity, parse_time, set_condition, time_text, true_since)
from ._host import Host, ObjectError, Objects, State
from ._plugin import (Attempt, CheckCancel, CheckQuery, Failed, Notification, ObjectRef, Plugin,
                      Refused, TellMeAgain, Write, main)

__all__ = [
    "Activity", "Attempt", "CheckAnswer", "CheckCancel", "CheckQuery", "Failed", "FieldError",
    "Host", "Notification", "ObjectError", "ObjectRef", "Objects", "Plugin", "Refused", "State",
    "TellMeAgain", "Write", "active", "controller_of", "find_condition", "from_nanoseconds",
    "inactive", "main", "owner_reference", "parse_quantity", "parse_time", "pending", "ready",
    "rejected", "retry", "set_condition", "time_text", "true_since",
]
