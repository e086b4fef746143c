"""Repairs what no schema can say of a request that is to be accepted."""

import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    del context, kwargs  # schemathesis calls by these names
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
