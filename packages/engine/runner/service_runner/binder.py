"""Binds `data` and `params` by name, converted to what the hints of `run` say."""

from .failure import Failure, InvalidInput

NAMES = ("data", "params")
_UNHINTED = (None, dict, object)


class Binder:
    """The user's `run`, and what each of its arguments is made of. Built once, in the zygote."""

    def __init__(self, run) -> None:
        self.run = run
        self.positional, self.named = _read_parameters(run)
        self.hints = _read_hints(run)
        self.convert = None
        if any(self.hints.get(name) not in _UNHINTED for name in NAMES):
            from .conversion import (
                convert,
            )  # needs typing and dataclasses: only who has hints pays for them

            self.convert = convert

    def bind(self, values: dict) -> tuple[list, dict]:
        """Positional and named arguments for `run`; raises InvalidInput."""
        return [self._argument(name, values) for name in self.positional], {
            name: self._argument(name, values) for name in self.named
        }

    def _argument(self, name: str, values: dict):
        value = values[name]
        hint = self.hints.get(name)
        if not isinstance(value, dict):
            raise InvalidInput("/" + name, "must be a JSON object")
        if self.convert is None or hint in _UNHINTED:
            return value
        return self.convert(hint, value, "/" + name)


def _read_parameters(run) -> tuple[list[str], list[str]]:
    code = getattr(run, "__code__", None)
    plain = code is not None and not hasattr(run, "__wrapped__") and not hasattr(run, "__self__")
    if (
        plain and not code.co_posonlyargcount and not code.co_flags & 0x0C
    ):  # neither *args nor **kwargs: no need for inspect (5 ms)
        count, keyword_only = code.co_argcount, code.co_kwonlyargcount
        names = code.co_varnames[: count + keyword_only]
        optional = set(names[count - len(run.__defaults__ or ()) : count]) | set(
            run.__kwdefaults__ or {}
        )
        _refuse_others(name for name in names if name not in NAMES and name not in optional)
        return [], [name for name in names if name in NAMES]
    return _inspect_parameters(run)


def _inspect_parameters(run) -> tuple[list[str], list[str]]:
    import inspect

    positional, named, others, collects = [], [], [], False
    for parameter in inspect.signature(run).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            collects = True
        elif parameter.kind is parameter.VAR_POSITIONAL:
            continue
        elif parameter.name in NAMES:
            (positional if parameter.kind is parameter.POSITIONAL_ONLY else named).append(
                parameter.name
            )
        elif parameter.default is parameter.empty:
            others.append(parameter.name)
    _refuse_others(others)
    if collects:
        named += [name for name in NAMES if name not in named and name not in positional]
    return positional, named


def _refuse_others(names) -> None:
    for name in names:
        raise Failure(
            "STARTUP_ERROR",
            f"run has the parameter {name!r}: only data and params are given, others need a default",
        )


def _read_hints(run) -> dict:
    target = (
        run
        if hasattr(run, "__code__") or hasattr(run, "__wrapped__")
        else getattr(run, "__call__", run)
    )
    hints = getattr(target, "__annotations__", None) or {}
    if all(isinstance(hint, type) and hint in _UNHINTED for hint in hints.values()):
        return dict(hints)
    import typing

    try:
        return typing.get_type_hints(target)
    except Exception as error:
        raise Failure(
            "STARTUP_ERROR", f"The hints of run cannot be resolved: {type(error).__name__}: {error}"
        ) from None
