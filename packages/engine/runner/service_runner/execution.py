"""Serves one request: reads the inputs, runs the user's function, sends the answer."""

from __future__ import annotations

import gc
import json
import os
import sys
from functools import partial

from . import wire
from .binder import NAMES
from .capture import flush_streams, release_streams, write_error
from .connection_errors import read_connection_failure
from .door import open_door
from .external import open_external
from .failure import Failure, InvalidInput, describe_chosen, describe_exception, format_traceback
from .inputs import place_output, place_pools, read_input
from .isolation import release_reserve
from .outcome import encode_outcome, read_chosen_failure
from .output_files import POOL_SUFFIX, send_output
from .reporting import open_reporter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Any, NoReturn

    from .binder import Binder
    from .messages import RequestOptions

_SMALL_ANSWER = 1 << 16
"""What is sent in one piece, though that copies it: Node then reads once."""


class _Request:
    __slots__ = ("_body", "options", "output")

    def __init__(self, options: RequestOptions, body: bytes | bytearray) -> None:
        self.options = options
        self.output = os.environ.get("OUTPUT_DIRECTORY", "")
        self._body = body

    def read_body(self) -> str:
        """Once: the bytes are free then. Raises UnicodeDecodeError."""
        body, self._body = self._body, b""
        return str(body, "utf-8")


def rehearse() -> None:
    """Does what comes before and after user code once, with nothing.

    So the pages that it changes are this process's own by the time a request comes: copying them
    was half of what the request waited for.
    """
    options = wire.decode_request(b'{"executionId":"","resultBytes":2,"memory":0,"linger":false}')
    _parse_inputs(_Request(options, b'{"data":{},"params":{}}'))
    _encode_answer({}, 2)
    flush_streams()


def serve_request(control: int, load: Callable[[], Binder]) -> NoReturn:
    """Waits for the request, runs it, answers and ends the process.

    `load` returns the Binder or raises Failure.
    """
    request = _read_request(control)
    if request is None:
        os._exit(0)
    options = request.options
    os.environ["SERVICE_EXECUTION_ID"] = options["executionId"]
    os.environ["SERVICE_EXECUTION_ATTEMPT"] = str(options["attempt"])
    os.environ.update(options["trace"])
    if options["quantum"] is not None:
        open_door(options["quantum"])
    own = os.getpid()
    reporter = open_reporter(control)
    if options["external"] is not None:
        open_external(control, reporter, options["external"])
    try:
        frames = _encode_answer(_run(load, request), options["resultBytes"])
        reporter.close()
        if options["files"] is not None and os.getpid() == own:
            has_pool = options["outputPool"] is not None
            send_output(control, request.output, options["files"], has_pool)
    except BaseException as error:
        frames = [_encode_failure(error, options["memory"])] if os.getpid() == own else []
    reporter.close()
    release_streams()
    # User code that forked may return here twice: only the execution itself answers.
    if os.getpid() == own:
        _send(control, frames)
        if options["linger"]:
            _wait_until_closed(control)
    os._exit(0)


def _read_request(control: int) -> _Request | None:
    options: RequestOptions | None = None
    body: bytes | bytearray = b""
    frames = wire.FrameReader(control)
    while True:
        frame = frames.read()
        if frame is None:
            return None
        kind, payload = frame
        if kind == wire.START:
            return None if options is None else _Request(options, body)
        if kind == wire.REQUEST:
            options = wire.decode_request(payload)
        elif kind == wire.BODY:
            body = payload


def _run(load: Callable[[], Binder], request: _Request) -> Any:
    binder = load()
    values = _parse_inputs(request)
    positional, named = binder.bind(values)
    values.clear()
    gc.freeze()
    gc.enable()
    try:
        value = binder.run(*positional, **named)
        if hasattr(value, "__await__"):
            return _await(value)
        return value
    except BaseException as error:
        failure = _recognise_failure(error)
        if failure is None:
            raise
        failure.traceback = describe_chosen(error)
        raise failure from None


def _encode_answer(value: Any, result_limit: int) -> list[bytes]:
    result, metadata = encode_outcome(value, result_limit)
    frames = [] if metadata is None else [wire.encode_frame(wire.METADATA, metadata)]
    frames += [wire.HEADER.pack(len(result), wire.RESULT), result]
    return [b"".join(frames)] if len(result) < _SMALL_ANSWER else frames


def _recognise_failure(error: BaseException) -> Failure | None:
    if isinstance(error, MemoryError):
        return None
    return read_chosen_failure(error) or read_connection_failure(error)


def _await(value: Awaitable[Any]) -> Any:
    import asyncio

    async def wait() -> Any:
        return await value

    return asyncio.run(wait())


def _parse_inputs(request: _Request) -> dict[str, Any]:
    """`data` and `params`.

    The garbage collector is still off: parsing 62 MB takes a quarter of the time without it.
    """
    body = _parse(request.read_body, "/")
    if not isinstance(body, dict):
        raise InvalidInput("/", "must be a JSON object")
    files, output = request.options["inputs"], request.options["outputPool"]
    if files is None:
        values = {name: body.get(name, {}) for name in NAMES}
    else:
        values = {
            name: _parse(partial(read_input, files, name), "/" + name)
            if name in files["parts"]
            else body.get(name, {})
            for name in NAMES
        }
        place_pools(files, values)
    if output is not None:
        place_output(output, request.output + POOL_SUFFIX, values)
    return values


def _parse(read: Callable[[], str], pointer: str) -> Any:
    try:
        return _DECODER.decode(read())
    except RecursionError:
        raise InvalidInput(pointer, "is nested too deeply") from None
    except ValueError as error:
        raise InvalidInput(pointer, f"is not JSON: {error}", quotes=True) from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value.")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def _encode_failure(error: BaseException, memory: int) -> bytes:
    if isinstance(error, MemoryError):
        release_reserve()
        limit = f"The memory limit of {memory / (1 << 30):g} GB was exceeded"
        message = f"{limit}: {describe_exception(error)}"
        failure = Failure("OUT_OF_MEMORY", message, format_traceback(error))
    elif isinstance(error, Failure):
        failure = error
    else:
        failure = Failure("EXECUTION_ERROR", describe_exception(error), format_traceback(error))
    if failure.traceback is not None:
        write_error(failure.traceback)
    cause = {"code": failure.code, "detail": failure.detail}
    return wire.encode_frame(wire.FAILURE, json.dumps(cause).encode("ascii"))


def _wait_until_closed(control: int) -> None:
    """Node closes the connection once it has the answer. It ends who waits for longer."""
    try:
        os.read(control, 1)
    except OSError:
        pass  # it was closed before everything was read


def _send(control: int, frames: list[bytes]) -> None:
    try:
        for frame in frames:
            wire.write(control, frame)
    except OSError as error:
        sys.exit(f"the answer could not be sent: {error}")
