"""Client of services: start executions, wait for them, fetch their results."""

from .aio import AsyncClient
from .client import Client, read_endpoint
from .errors import (
    ClientError,
    ExecutionFailed,
    ExecutionUnknown,
    RequestRefused,
    ServerUnreachable,
    WaitTimeout,
)
from .values import Execution, FileReference, Result

__all__ = [
    "AsyncClient",
    "Client",
    "ClientError",
    "Execution",
    "ExecutionFailed",
    "ExecutionUnknown",
    "FileReference",
    "RequestRefused",
    "Result",
    "ServerUnreachable",
    "WaitTimeout",
    "read_endpoint",
]
