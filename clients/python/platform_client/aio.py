"""The client for asyncio: the same names, awaited."""

from __future__ import annotations

import asyncio
import functools
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .client import Client, Data, Executions, Lines, Names, Output, Params

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .values import Execution, FileReference, Result

Answer = TypeVar("Answer")


class AsyncClient(Generic[Data, Params, Output]):
    """Does the calls of a `Client` in threads of its own, `max_concurrency` at most."""

    def __init__(self, client: Client[Data, Params, Output], max_concurrency: int = 64) -> None:
        self._client = client
        self._threads = ThreadPoolExecutor(max_concurrency, "platform-client")

    async def _call(self, call: Callable[..., Answer], *given: Any, **named: Any) -> Answer:
        work = functools.partial(call, *given, **named)
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def _wait(self, call: Callable[..., Answer], *given: Any, **named: Any) -> Answer:
        """A call that may take for ever: its thread is free again soon after it is cancelled."""
        given_up = threading.Event()
        try:
            return await self._call(call, *given, given_up=given_up, **named)
        finally:
            given_up.set()

    async def start(
        self,
        data: Data | Mapping[str, Any] | FileReference | None = None,
        params: Params | Mapping[str, Any] | FileReference | None = None,
        *,
        more: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> Execution:
        """As `Client.start`."""
        call = self._client.start
        return await self._call(call, data, params, more=more, idempotency_key=idempotency_key)

    async def state(self, execution_id: str) -> Execution:
        """As `Client.state`."""
        return await self._call(self._client.state, execution_id)

    async def wait(self, execution_id: str, timeout: float | None = None) -> Execution:
        """As `Client.wait`."""
        return await self._wait(self._client.wait, execution_id, timeout)

    async def result(self, execution_id: str) -> Result[Output]:
        """As `Client.result`."""
        return await self._call(self._client.result, execution_id)

    async def run(
        self,
        data: Data | Mapping[str, Any] | FileReference | None = None,
        params: Params | Mapping[str, Any] | FileReference | None = None,
        *,
        timeout: float | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> Result[Output]:
        """As `Client.run`."""
        return await self._wait(self._client.run, data, params, timeout=timeout, more=more)

    async def cancel(self, execution_id: str) -> Execution:
        """As `Client.cancel`."""
        return await self._call(self._client.cancel, execution_id)

    async def log(self, execution_id: str) -> Lines:
        """As `Client.log`."""
        return await self._call(self._client.log, execution_id)

    async def files(self, execution_id: str) -> Names:
        """As `Client.files`."""
        return await self._call(self._client.files, execution_id)

    async def download(self, execution_id: str, name: str) -> bytes:
        """As `Client.download`."""
        return await self._call(self._client.download, execution_id, name)

    async def list(self, status: str | None = None, limit: int = 100) -> Executions:
        """As `Client.list`."""
        return await self._call(self._client.list, status, limit)

    async def close(self) -> None:
        """Waits for the calls under way, and closes the connections."""
        await asyncio.to_thread(self._threads.shutdown)
        self._client.close()

    async def __aenter__(self) -> AsyncClient[Data, Params, Output]:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
