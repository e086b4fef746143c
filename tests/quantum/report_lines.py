"""A plugin of pytest that writes a line of JSON for each test to the file REPORT_LINES."""

import json
import os

_found = {}


def pytest_runtest_logreport(report):
    """The worst of set-up, call and tear-down is what the test was."""
    found = _found.setdefault(report.nodeid, {"status": "passed", "text": ""})
    if report.failed:
        found["status"] = "failed"
        found["text"] += report.longreprtext
    elif report.skipped and found["status"] == "passed":
        found["status"] = "skipped"
        # Path, line, and the sentence that was given.
        found["text"] = str(report.longrepr[2])


def pytest_collectreport(report):
    """A file that cannot be imported, or is skipped as a whole."""
    if report.passed:
        return
    status = "failed" if report.failed else "skipped"
    text = report.longreprtext if report.failed else str(report.longrepr[2])
    _found[report.nodeid] = {"status": status, "text": text}


def pytest_sessionfinish():
    with open(os.environ["REPORT_LINES"], "w", encoding="utf-8") as file:
        for name, found in _found.items():
            file.write(json.dumps({"name": name, **found}) + "\n")
