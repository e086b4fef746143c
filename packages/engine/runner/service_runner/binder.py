"""Binds `data` and `params` by name and converts them to the types that the hints of `run` name."""

from __future__ import annotations

from .failure import Failure, InvalidInput
from .pinned_pool import PinnedOutput, PinnedPool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    Run = Callable[..., Any]

NAMES = ("data", "params")
_UNHINTED = (None, dict, object)
_COLLECTING_FLAGS = 0x0C
"""CO_VARARGS and CO_VARKEYWORDS of the `inspect` module."""


class Binder:
    """The user's `run` and how to fill its arguments. Built once, in the zygote."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.positional, self.named = _read_parameters(run)
        self.hints = _read_hints(run)
        self.convert: Callable[[Any, Any, str], Any] | None = None
        if any(self.hints.get(name) not in _UNHINTED for name in NAMES):
            from .conversion import convert  # imports typing and dataclasses: only for hints

            self.convert = convert

    def bind(self, values: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Positional and named arguments for `run`; raises InvalidInput."""
        positional = [self._argument(name, values) for name in self.positional]
        return positional, {name: self._argument(name, values) for name in self.named}

    def _argument(self, name: str, values: Mapping[str, Any]) -> Any:
        value = values[name]
        hint = self.hints.get(name)
        if not isinstance(value, (dict, PinnedPool, PinnedOutput)):
            raise InvalidInput("/" + name, "must be a JSON object")
        if self.convert is None or hint in _UNHINTED:
            return value
        return self.convert(hint, value, "/" + name)


def _read_parameters(run: Run) -> tuple[list[str], list[str]]:
    code = getattr(run, "__code__", None)
    wrapped = hasattr(run, "__wrapped__") or hasattr(run, "__self__")
    if code is None or wrapped or code.co_posonlyargcount or code.co_flags & _COLLECTING_FLAGS:
        return _inspect_parameters(run)
    # The usual case does without `inspect`, which takes 5 ms to import.
    count = code.co_argcount
    names = code.co_varnames[: count + code.co_kwonlyargcount]
    defaults = getattr(run, "__defaults__", None) or ()
    optional = {
        *names[count - len(defaults) : count],
        *(getattr(run, "__kwdefaults__", None) or ()),
    }
    _refuse_others(name for name in names if name not in NAMES and name not in optional)
    return [], [name for name in names if name in NAMES]


def _inspect_parameters(run: Run) -> tuple[list[str], list[str]]:
    import inspect

    positional: list[str] = []
    named: list[str] = []
    others: list[str] = []
    collects = False
    for parameter in inspect.signature(run).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            collects = True
        elif parameter.kind is parameter.VAR_POSITIONAL:
            continue
        elif parameter.name in NAMES:
            is_positional = parameter.kind is parameter.POSITIONAL_ONLY
            (positional if is_positional else named).append(parameter.name)
        elif parameter.default is parameter.empty:
            others.append(parameter.name)
    _refuse_others(others)
    if collects:
        named += [name for name in NAMES if name not in named and name not in positional]
    return positional, named


def _refuse_others(names: Iterable[str]) -> None:
    for name in names:
        raise Failure(
            "STARTUP_ERROR",
            f"run has the parameter {name!r}: "
            "only data and params are passed, others need a default.",
        )


def _read_hints(run: Any) -> dict[str, Any]:
    is_function = hasattr(run, "__code__") or hasattr(run, "__wrapped__")
    target = run if is_function else run.__call__
    hints = getattr(target, "__annotations__", None) or {}
    if all(isinstance(hint, type) and hint in _UNHINTED for hint in hints.values()):
        return dict(hints)
    import typing

    try:
        return typing.get_type_hints(target)
    except Exception as error:
        raise Failure(
            "STARTUP_ERROR",
            f"The hints of run cannot be resolved: {type(error).__name__}: {error}",
        ) from None
