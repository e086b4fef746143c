"""OpenQASM 2 in, counts and shots out: a text, or `{"qasm": [...]}` and a list of results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..failures import INVALID_INPUT, BackendFailure
from . import Translation

if TYPE_CHECKING:
    from collections.abc import Callable

_IGNORED = ("backend_settings", "memory")


def translate(data: dict[str, Any], params: dict[str, Any]) -> Translation:
    """The job in the own form."""
    several = data.get("qasm")
    texts = several if isinstance(several, list) else [data.get("input", several)]
    if not texts or not all(isinstance(text, str) for text in texts):
        detail = "The input must be OpenQASM 2: a text, or an object with a list `qasm`."
        raise BackendFailure(INVALID_INPUT, detail)
    own = {
        "format": data.get("format"),
        "primitive": "sampler",
        "shape": "counts",
        "pubs": [{"circuit": text} for text in texts],
    }
    rest = {name: value for name, value in params.items() if name not in _IGNORED}
    return Translation(own, rest, _tell_all(isinstance(several, list)))


def _tell_all(are_several: bool) -> Callable[[dict[str, Any]], Any]:
    def tell(result: dict[str, Any]) -> Any:
        told = [{"counts": pub["counts"], "memory": pub["memory"]} for pub in result["pubs"]]
        # `run` of a service returns an object: a list becomes its member `value`.
        return told if are_several else told[0]

    return tell
