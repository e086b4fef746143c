"""Which exceptions mean that another host could not be reached, and which host that was."""

from __future__ import annotations

import socket
import unittest
import urllib.error
import urllib.request
from typing import Any

from service_runner.connection_errors import read_connection_failure


def catch(call: Any) -> BaseException:
    try:
        call()
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def wrap(cause: BaseException, outer: BaseException, chained: bool = True) -> BaseException:
    try:
        try:
            raise cause
        except BaseException:
            raise outer from (cause if chained else None)
    except BaseException as error:
        return error


def make_client_error(module: str, name: str, **members: Any) -> BaseException:
    """As a client library has them; none is among what these tests need."""
    kind: type[BaseException] = type(name, (Exception,), {"__module__": module, **members})
    return kind("failed")


class ConnectionErrors(unittest.TestCase):
    def test_a_refused_connection_names_the_host(self) -> None:
        without_proxy = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))  # and does not listen
            address = taken.getsockname()
            direct = catch(lambda: socket.create_connection(address))
            through_urllib = catch(lambda: without_proxy.open(f"http://127.0.0.1:{address[1]}/"))
        for error in (direct, through_urllib, wrap(direct, ValueError("no data"))):
            with self.subTest(error=error):
                failure = read_connection_failure(error)
                assert failure is not None
                self.assertEqual(failure.code, "CONNECTION_ERROR")
                self.assertTrue(failure.detail.startswith("Could not connect to 127.0.0.1: "))

    def test_errors_of_client_libraries_are_recognised_by_their_names(self) -> None:
        request = type("Request", (), {"url": "https://a.example/x"})()
        for error, host in (
            (make_client_error("requests.exceptions", "ConnectionError"), "another host"),
            (make_client_error("httpx", "ConnectTimeout", request=request), "a.example"),
            (make_client_error("aiohttp.client", "ClientConnectorError", host="b"), "b"),
            (ExceptionGroup("several", [ConnectionRefusedError("host='c'")]), "c"),
        ):
            with self.subTest(error=error):
                failure = read_connection_failure(error)
                assert failure is not None
                self.assertEqual(failure.detail.partition(":")[0], f"Could not connect to {host}")

    def test_other_errors_are_the_services_own(self) -> None:
        unreachable = ConnectionRefusedError("refused")
        for error in (
            ValueError("bad"),
            BrokenPipeError(),
            TimeoutError("slow"),
            wrap(TimeoutError("slow"), ValueError("slow")),
            wrap(unreachable, ValueError("handled"), chained=False),
            FileNotFoundError(2, "no file"),
            make_client_error("project.errors", "ConnectionError"),
            make_client_error("httpx", "ReadTimeout"),
        ):
            with self.subTest(error=error):
                self.assertIsNone(read_connection_failure(error))

    def test_a_timeout_while_urllib_connects_is_one(self) -> None:
        error = urllib.error.URLError(TimeoutError("timed out"))
        self.assertIsNotNone(read_connection_failure(error))

    def test_an_exception_whose_members_are_anything_breaks_nothing(self) -> None:
        class Hostile(Exception):
            exceptions = 5

            @property
            def reason(self) -> None:
                raise RuntimeError

            def __str__(self) -> str:
                raise RuntimeError

        self.assertIsNone(read_connection_failure(Hostile()))
        self.assertIsNotNone(read_connection_failure(wrap(ConnectionResetError(), Hostile())))

    def test_a_circle_of_causes_is_walked_once(self) -> None:
        first, second = ValueError("a"), ValueError("b")
        first.__cause__, second.__cause__ = second, first
        self.assertIsNone(read_connection_failure(first))


if __name__ == "__main__":
    unittest.main()
