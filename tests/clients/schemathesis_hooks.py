"""Repairs what no schema can say of a request that is to be accepted."""

import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    del context, kwargs  # schemathesis calls by these names
    # It waits for an answer no longer than so.
    for name, value in (case.headers or {}).items():
        if name.lower() == "prefer" and str(value).startswith("wait="):
            case.headers[name] = "wait=1"
    # A cursor is taken from the page before; any other is refused.
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    for name in ("cursor", "after"):
        if case.query:
            case.query.pop(name, None)
    # As is the id of an event: from the stream before.
    for name in list(case.headers or ()):
        if name.lower() == "last-event-id":
            del case.headers[name]
    # Nor can a schema say which time is one of the next days.
    for start in find_starts(case.body):
        start.pop("startAt", None)
        # Nor what is a URL of the web; this one is called by nobody.
        if "webhookUrl" in start:
            start["webhookUrl"] = "http://127.0.0.1:9/"


def find_starts(body):
    """The bodies of starts in a request: the one that it is, or the items of a batch."""
    if not isinstance(body, dict):
        return []
    items = body.get("items")
    return [
        start
        for start in [body, *(items if isinstance(items, list) else [])]
        if isinstance(start, dict)
    ]
