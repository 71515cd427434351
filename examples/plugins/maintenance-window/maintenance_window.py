"""An admission check: nothing starts that would run into a maintenance window.

A workload says in spec.maximumExecutionTimeSeconds how long it runs at most; without it,
`assumeSeconds` of the configuration counts.
"""
import datetime

import sluice_plugin as sluice

MOMENT = {"type": "string", "minLength": 20, "maxLength": 25}


class MaintenanceWindow(sluice.Plugin):
    name = "maintenance-window"
    version = "1.0.0"
    description = "Holds workloads back that would run into a maintenance window"
    check_controllers = ["example.com/maintenance-window"]
    config_schema = {"type": "object", "required": ["windows"], "properties": {
        "assumeSeconds": {"type": "integer", "minimum": 0, "default": 3600},
        "windows": {"type": "array", "items": {
            "type": "object", "required": ["from", "to"],
            "properties": {"from": MOMENT, "to": MOMENT}}}}}

    def __init__(self, host, config):
        super().__init__(host, config)
        self.windows = [(moment(each["from"]), moment(each["to"])) for each in config["windows"]]

    def begin_check(self, query):
        seconds = query.workload["spec"].get("maximumExecutionTimeSeconds",
                                             self.config["assumeSeconds"])
        now = self.host.now_utc()
        end = now + datetime.timedelta(seconds=seconds)
        for start, over in self.windows:
            if start < end and now < over:
                wait = int((over - now).total_seconds()) + 1
                return sluice.retry(f"maintenance from {start:%Y-%m-%d %H:%M} to {over:%H:%M} UTC",
                                    after_seconds=wait)
        return sluice.ready(f"it is done by {end:%Y-%m-%d %H:%M} UTC, before any maintenance")


def moment(text):
    try:
        return sluice.parse_time(text)
    except ValueError as error:
        raise sluice.Refused(str(error)) from error


if __name__ == "__main__":
    sluice.main(MaintenanceWindow)
