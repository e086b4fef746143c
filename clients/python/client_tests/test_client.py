"""What the client promises, tried on a server that answers as each test tells it."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest.mock import patch

from platform_client import (
    AsyncClient,
    Client,
    ExecutionFailed,
    ExecutionUnknown,
    FileReference,
    RequestRefused,
    ServerUnreachable,
    WaitTimeout,
)
from platform_client.tokens import AccessKey, Tokens
from platform_client.transport import PATIENCE, Request, Response, Transport, pause_between

from .scripted_server import Answer, ScriptedServer

ID = "0198a9a4-0000-7000-8000-000000000001"
MISREAD = (
    b"<html>hidden</html>",
    b"",
    b"\xff\xfe",
    b'{"a": NaN}',
    b"[" * 100_000,
    "hidden",
    None,
    [5],
    {"status": 5, "secret": "hidden"},
    {"_embedded": {"status": "hidden"}},
)
WRONG_URLS = (
    "localhost:8080/k/n/1.0.0",
    "htps://host/k/n/1.0.0",
    "ftp://host/k/n/1.0.0",
    "https://me:hidden@host/k/n/1.0.0",
    "https:///k/n/1.0.0",
    "https://host:port/k/n/1.0.0",
    "https://host:99999/k/n/1.0.0",
    "https://host/k/n/1.0.0?a=1",
    "https://host/k/n/1.0.0#a",
    "https://host/k/n/1 0",
    "https://host/k/n/1.0.0\r\nHost: a",
    "host",
)
Json = dict[str, Any]


def describe(status: str, **more: Any) -> Json:
    terminal = status in ("SUCCEEDED", "FAILED", "UNKNOWN")
    return {"id": ID, "status": status, "terminal": terminal, "createdAt": "x", **more}


def end(status: str, **more: Any) -> Json:
    return {**more, "_links": {"self": {}, "status": {}}, "_embedded": {"status": describe(status)}}


class ClientTest(unittest.TestCase):
    def serve(
        self, *answers: Answer, lifetime: Any = 3600, token: Answer | None = None
    ) -> tuple[ScriptedServer, Any]:
        server = ScriptedServer(*answers, lifetime=lifetime, token=token)
        self.addCleanup(server.close)
        client: Client[Json, Json, Json] = Client(server.endpoint, "key", "secret")
        self.addCleanup(client.close)
        return server, client

    def test_concurrent_callers_share_one_token(self) -> None:
        server, client = self.serve(Answer(body=describe("RUNNING")))
        with ThreadPoolExecutor(20) as threads:
            list(threads.map(client.state, [ID] * 20))
        self.assertEqual(server.tokens, 1)
        self.assertEqual({one.headers["authorization"] for one in server.asked}, {"Bearer token-1"})

    def test_a_token_is_renewed_before_it_expires(self) -> None:
        server, client = self.serve(Answer(body=describe("RUNNING")), lifetime=0.4)
        client.state(ID)
        time.sleep(0.25)
        client.state(ID)
        self.assertEqual(server.tokens, 2)

    def test_a_refused_token_is_renewed_once(self) -> None:
        refused = Answer(401, {"code": "UNAUTHENTICATED", "detail": "no"})
        server, client = self.serve(refused, Answer(body=describe("RUNNING")))
        client.state(ID)
        self.assertEqual(server.tokens, 2)
        server, client = self.serve(refused)
        with self.assertRaises(RequestRefused):
            client.state(ID)
        self.assertEqual(len(server.asked), 2)

    def test_a_token_that_another_caller_has_replaced_already_is_not_replaced_again(self) -> None:
        server, _ = self.serve(Answer(body=describe("RUNNING")))
        transport = Transport()
        self.addCleanup(transport.close)
        url = server.endpoint.replace("/key/name/1.0.0", "/token")
        tokens = Tokens(transport, url, AccessKey("key", "secret"))
        refused = tokens.get()
        tokens.drop(refused)
        renewed = tokens.get()
        tokens.drop(refused)
        self.assertEqual((tokens.get(), server.tokens), (renewed, 2))

    def test_another_key_is_used_from_then_on(self) -> None:
        server, client = self.serve(Answer(body=describe("RUNNING")))
        client.state(ID)
        client.use_key("other", "secret")
        client.state(ID)
        self.assertEqual(server.asked[-1].headers["authorization"], "Bearer token-2")

    def test_a_start_is_sent_again_as_it_was_after_a_cut_connection_and_503(self) -> None:
        away = Answer(503, {"code": "UNAVAILABLE"}, {"Retry-After": "0"})
        server, client = self.serve(Answer(0), away, Answer(201, describe("PENDING")))
        self.assertEqual(client.start({"a": 1}).status, "PENDING")
        self.assertEqual(len(server.asked), 3)
        self.assertEqual(len({one.headers["idempotency-key"] for one in server.asked}), 1)
        self.assertEqual({one.body for one in server.asked}, {b'{"data": {"a": 1}}'})

    def test_each_start_has_a_key_of_its_own(self) -> None:
        server, client = self.serve(Answer(201, describe("PENDING")))
        client.start()
        client.start()
        self.assertEqual(len({one.headers["idempotency-key"] for one in server.asked}), 2)

    def test_retry_after_is_obeyed_and_a_long_one_is_left_to_the_caller(self) -> None:
        busy = {"code": "RATE_LIMITED", "detail": "later"}
        server, client = self.serve(
            Answer(429, busy, {"Retry-After": "1"}), Answer(201, describe("PENDING"))
        )
        began = time.monotonic()
        client.start()
        self.assertGreaterEqual(time.monotonic() - began, 1)
        server, client = self.serve(Answer(429, busy, {"Retry-After": "3600"}))
        with self.assertRaises(RequestRefused):
            client.start()
        self.assertEqual(len(server.asked), 1)

    def test_other_refusals_are_told_and_not_repeated(self) -> None:
        body = {"code": "INVALID_INPUT", "detail": "no", "errors": [{"path": "/data"}]}
        server, client = self.serve(Answer(400, body, {"X-Request-Id": "r1"}))
        with self.assertRaises(RequestRefused) as caught:
            client.start()
        error = caught.exception
        self.assertEqual((error.status, error.code, error.detail), (400, "INVALID_INPUT", "no"))
        self.assertEqual((error.errors, error.request_id), ([{"path": "/data"}], "r1"))
        self.assertEqual(len(server.asked), 1)

    def test_a_500_is_not_repeated(self) -> None:
        server, client = self.serve(Answer(500, {"code": "INTERNAL_ERROR"}))
        with self.assertRaises(RequestRefused):
            client.start()
        self.assertEqual(len(server.asked), 1)

    def test_waiting_asks_at_once_where_the_server_waits_and_only_terminal_ends_it(self) -> None:
        waits = {"Preference-Applied": "wait=30", "Retry-After": "20"}
        server, client = self.serve(
            Answer(body=describe("RUNNING"), headers=waits),
            Answer(body=describe("PAUSED"), headers=waits),
            Answer(body={**describe("STOPPED"), "terminal": True}),
            Answer(body=describe("SUCCEEDED")),
        )
        began = time.monotonic()
        self.assertEqual(client.wait(ID).status, "STOPPED")
        self.assertLess(time.monotonic() - began, 5)
        self.assertEqual(server.asked[0].headers["prefer"], "wait=30")

    def test_waiting_pauses_where_the_server_does_not_wait(self) -> None:
        _, client = self.serve(
            Answer(body=describe("RUNNING"), headers={"Retry-After": "1"}),
            Answer(body=describe("SUCCEEDED")),
        )
        began = time.monotonic()
        client.wait(ID)
        self.assertGreaterEqual(time.monotonic() - began, 1)

    def test_no_retry_after_makes_waiting_endless_or_a_busy_loop(self) -> None:
        weeks = "Fri, 31 Dec 9999 23:59:59 GMT"
        past = "Sun, 06 Nov 1994 08:49:37 GMT"
        for asked in ("2419200", "9" * 400, weeks):
            response = Response(200, {"retry-after": asked}, b"")
            self.assertEqual(pause_between(response, 0, 1), PATIENCE, asked)
        faulty = ("-1", "1.5", "1 2 3", "soon", "NaN", "", "٣", weeks.replace("9999", "9" * 30))
        for asked in ("0", past, *faulty):
            pause = pause_between(Response(200, {"retry-after": asked}, b""), 0, 1)
            self.assertTrue(0.25 <= pause <= 0.5, f"{asked}: {pause}")
        for name, value in (("Retry-After", "0"), ("Preference-Applied", "wait=30")):
            server, client = self.serve(Answer(body=describe("RUNNING"), headers={name: value}))
            with self.assertRaises(WaitTimeout):
                client.wait(ID, timeout=1)
            self.assertLessEqual(len(server.asked), 5)

    def test_a_retry_after_that_is_none_is_not_left_to_the_caller(self) -> None:
        for asked in ("-1", "1.5", "soon"):
            away = Answer(503, {"code": "UNAVAILABLE"}, {"Retry-After": asked})
            _, client = self.serve(away, Answer(body=describe("RUNNING")))
            self.assertEqual(client.state(ID).status, "RUNNING")

    def test_an_answer_that_is_not_that_of_a_service_is_refused_and_not_shown(self) -> None:
        state = describe("RUNNING")
        for body in MISREAD:
            server, client = self.serve(Answer(body=body, headers={"X-Request-Id": "r1"}))
            calls = [client.state, client.wait, client.cancel, client.result, client.files]
            for call in [*calls, client.log]:
                self.assert_misread(lambda call=call: call(ID))
            for call in (client.start, client.run, client.list):
                self.assert_misread(call)
            self.assertEqual(len(server.asked), 9, body)
        for wrong in ({"id": 5}, {"terminal": "no"}, {"createdAt": None}, {"endedAt": 5}):
            _, client = self.serve(Answer(body={**state, **wrong}))
            self.assert_misread(lambda client=client: client.state(ID), None)
            _, client = self.serve(Answer(body=[{**state, **wrong}]))
            self.assert_misread(client.list, None)

    def assert_misread(self, call: Any, request_id: str | None = "r1") -> None:
        with self.assertRaises(RequestRefused) as caught:
            call()
        error = caught.exception
        self.assertEqual((error.status, error.code), (200, "HTTP_200"))
        self.assertEqual(error.body.keys(), {"detail"})
        self.assertIn("The answer is not", error.detail)
        self.assertEqual(error.request_id, request_id)
        self.assertIsNone(error.__context__)
        self.assertNotIn("hidden", repr(error.__dict__))

    def test_an_answer_without_an_access_token_is_refused_and_not_shown(self) -> None:
        tokens = [{"access_token": one} for one in (None, 5, "", "hid\nden")]
        for body in (*MISREAD, {"token": "hidden"}, *tokens):
            server, client = self.serve(Answer(), token=Answer(body=body))
            self.assert_misread(lambda client=client: client.state(ID), None)
            self.assertEqual(server.asked, [])

    def test_a_token_may_have_any_lifetime_or_none(self) -> None:
        for lifetime, tokens in ((None, 2), ("3600", 2), (-5, 2), ([], 2), (10**400, 1)):
            server, client = self.serve(Answer(body=describe("RUNNING")), lifetime=lifetime)
            client.state(ID)
            client.state(ID)
            self.assertEqual(server.tokens, tokens, lifetime)

    def test_what_a_proxy_says_of_a_refusal_may_be_anything(self) -> None:
        odd = {"code": {"toString": 1}, "detail": [1], "errors": "no"}
        for body in (b"<html>", b"", [1], "no", None, odd, b"[" * 100_000):
            _, client = self.serve(Answer(502, body))
            with self.assertRaises(RequestRefused) as caught:
                client.state(ID)
            error = caught.exception
            self.assertEqual((error.code, error.detail, error.errors), ("HTTP_502", "", []))

    def test_a_timeout_ends_the_waiting_only_also_while_the_server_is_away(self) -> None:
        for answer in (Answer(body=describe("RUNNING")), Answer(503), Answer(0)):
            server, client = self.serve(answer)
            with self.assertRaises(WaitTimeout) as caught:
                client.wait(ID, timeout=0.2)
            self.assertEqual(caught.exception.id, ID)
            self.assertEqual({one.method for one in server.asked}, {"GET"})

    def test_what_did_not_succeed_is_an_error(self) -> None:
        _, client = self.serve(Answer(body=end("FAILED", code="TIMEOUT", detail="late")))
        with self.assertRaises(ExecutionFailed) as failed:
            client.result(ID)
        error = failed.exception
        self.assertEqual((error.code, error.detail, error.id), ("TIMEOUT", "late", ID))
        _, client = self.serve(Answer(body=end("UNKNOWN", code="WORKER_LOST", detail="")))
        with self.assertRaises(ExecutionUnknown):
            client.result(ID)

    def test_digits_and_unknown_members_are_kept(self) -> None:
        value = {"n": 12345678901234567890123}
        _, client = self.serve(Answer(body=end("SUCCEEDED", result=value, news=1)))
        result = client.result(ID)
        self.assertEqual(result.output["n"], 12345678901234567890123)
        self.assertIn("12345678901234567890123", result.text)
        self.assertEqual(result.body["news"], 1)
        _, client = self.serve(Answer(body=describe("RUNNING", news=1)))
        self.assertEqual(client.state(ID).raw["news"], 1)

    def test_a_flat_result_of_the_local_server_is_read(self) -> None:
        body = {
            "result": 1,
            "other": 2,
            "_links": {},
            "_embedded": {"status": {"status": "SUCCEEDED"}},
        }
        _, client = self.serve(Answer(body=body))
        self.assertEqual(client.result(ID).value, {"result": 1, "other": 2})

    def test_lists_follow_the_cursor_and_never_the_host_of_a_link(self) -> None:
        before = '<https://elsewhere.example/list?cursor=c0&limit=2>; rel="prev"'
        link = f'{before}, <https://elsewhere.example/list?cursor=c1&limit=2>; rel="next"'
        server, client = self.serve(
            Answer(body=[describe("FAILED")] * 2, headers={"Link": link}),
            Answer(body=[describe("FAILED")] * 2),
        )
        self.assertEqual(len(client.list(status="FAILED", limit=3)), 3)
        self.assertEqual(server.asked[1].path, "/key/name/1.0.0/?limit=3&status=FAILED&cursor=c1")

    def test_a_page_that_names_itself_as_the_next_ends_a_list(self) -> None:
        link = {"Link": '<https://host/list?cursor=%zz>; rel="next"'}
        server, client = self.serve(Answer(body=[describe("FAILED")], headers=link))
        for call in (client.list, lambda: client.log(ID)):
            self.assert_misread(call, None)
        self.assertEqual(len(server.asked), 4)

    def test_a_page_without_items_ends_a_list_whatever_it_names_as_the_next(self) -> None:
        links = [f'<https://host/list?cursor=c{n}>; rel="next"' for n in range(3)]
        pages = [Answer(body=[], headers={"Link": link}) for link in links]
        for name, arguments in (("list", ()), ("log", (ID,))):
            server, client = self.serve(*pages, Answer(body=[]))
            self.assertEqual(getattr(client, name)(*arguments), [])
            self.assertEqual(len(server.asked), 1, name)

    def test_a_reference_takes_the_place_of_a_value(self) -> None:
        server, client = self.serve(Answer(201, describe("PENDING")))
        client.start(FileReference("p", "d", "f"), {"a": 1}, more={"startWithin": 5})
        reference = {"dataPoolId": "p", "dataSourceDescriptorId": "d", "fileId": "f"}
        expected = {"dataRef": reference, "params": {"a": 1}, "startWithin": 5}
        self.assertEqual(json.loads(server.asked[0].body), expected)

    def test_a_name_that_would_lead_to_another_path_is_refused(self) -> None:
        server, client = self.serve(Answer(body={}))
        for wrong in ("", ".", "..", None, 5):
            for call in (client.state, client.wait, client.cancel, client.result, client.log):
                self.assertRaises(ValueError, call, wrong)
            self.assertRaises(ValueError, client.download, ID, wrong)
        self.assertEqual((server.asked, server.tokens), ([], 0))

    def test_a_url_that_leads_elsewhere_than_it_seems_is_refused_and_not_shown(self) -> None:
        for wrong in WRONG_URLS:
            for given in ((wrong,), ("https://host/k/n/1.0.0", "key", "secret", wrong)):
                with self.assertRaises(ValueError) as caught:
                    Client(*given)
                self.assertNotIn("hidden", str(caught.exception))
        for right in ("http://127.0.0.1:80", "https://host/a/b/1.0.0//", "HTTPS://[::1]:8443/a"):
            Client(right, "key", "secret", right).close()

    def test_an_input_that_is_no_json_object_is_refused(self) -> None:
        server, client = self.serve(Answer(201, describe("PENDING")))
        for wrong in ([1], 5, "no", True):
            with self.assertRaisesRegex(TypeError, "data has to be a mapping"):
                client.start(wrong)
        for number in (float("nan"), float("inf")):
            self.assertRaises(ValueError, client.start, {"a": [number]})
        self.assertRaises(ValueError, client.wait, ID, float("nan"))
        for key in ("a\r\nb: c", "ü€"):
            self.assertRaises(ValueError, client.start, idempotency_key=key)
        self.assertEqual(server.asked, [])

    def test_a_timeout_ends_the_waiting_also_while_there_is_no_token(self) -> None:
        server, client = self.serve(Answer(body=describe("RUNNING")), token=Answer(0))
        self.assertRaises(WaitTimeout, client.wait, ID, 0.2)
        self.assertEqual(server.asked, [])

    def test_a_timeout_ends_the_waiting_also_while_bytes_come_without_end(self) -> None:
        _, client = self.serve(Answer(body=describe("RUNNING"), drip=0.1))
        client._tokens.get()
        began = time.monotonic()
        with patch("platform_client.transport.GRACE_SECONDS", 0.2):
            self.assertRaises(WaitTimeout, client.wait, ID, 0.2)
        self.assertLess(time.monotonic() - began, 3)

    def test_a_timeout_ends_the_waiting_also_while_no_connection_is_made(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            endpoint = f"https://127.0.0.1:{silent.getsockname()[1]}"
            began = time.monotonic()
            client: Client[Json, Json, Json] = Client(endpoint)
            with client, patch("platform_client.transport.GRACE_SECONDS", 0.2):
                self.assertRaises(WaitTimeout, client.wait, ID, 0.2)
        self.assertLess(time.monotonic() - began, 5)

    def test_names_are_parts_of_a_path(self) -> None:
        server, client = self.serve(Answer(body={}))
        client.download("../../x", "a b/ü.txt")
        self.assertEqual(
            server.asked[0].path, "/key/name/1.0.0/..%2F..%2Fx/result/a%20b%2F%C3%BC.txt"
        )

    def test_what_is_shown_of_keys_and_requests_has_no_secret(self) -> None:
        key = AccessKey("key", "hidden")
        request = Request("POST", "http://127.0.0.1/token", {"Authorization": "hidden"}, b"hidden")
        self.assertIn("'key'", repr(key))
        self.assertIn("/token", repr(request))
        self.assertNotIn("hidden", f"{key!r} {request!r}")

    def test_a_server_that_cannot_be_reached_is_told_after_five_tries(self) -> None:
        server, client = self.serve(Answer(0))
        with self.assertRaises(ServerUnreachable):
            client.cancel(ID)
        self.assertEqual(len(server.asked), 5)

    def test_connections_that_the_server_has_closed_use_up_no_tries(self) -> None:
        together = 8
        gate = threading.Barrier(together)
        gated = [Answer(body=describe("RUNNING"), gate=gate)] * together
        server, client = self.serve(*gated, Answer(body=describe("SUCCEEDED")))
        with ThreadPoolExecutor(together) as threads:
            list(threads.map(client.state, [ID] * together))
        self.assertEqual(client.state(ID).status, "SUCCEEDED")
        self.assertEqual(len(server.asked), together + 1)

    def test_a_redirect_is_refused_at_once_and_neither_token_nor_secret_follow_it(self) -> None:
        elsewhere, _ = self.serve(Answer(body=describe("RUNNING")))
        for status in (301, 302, 303, 307, 308):
            moved = Answer(status, headers={"Location": elsewhere.endpoint})
            server, client = self.serve(moved)
            for name, given in (("state", ID), ("start", {"a": 1})):
                with self.assertRaises(RequestRefused) as caught:
                    getattr(client, name)(given)
                self.assertEqual(caught.exception.status, status)
                self.assertEqual(caught.exception.code, f"HTTP_{status}")
                self.assertIn(elsewhere.endpoint, str(caught.exception))
            self.assertEqual(len(server.asked), 2)
            endpoint = server.endpoint
            other: Client[Json, Json, Json] = Client(endpoint, "key", "secret", f"{endpoint}/moved")
            self.addCleanup(other.close)
            with self.assertRaises(RequestRefused):
                other.state(ID)
            self.assertEqual(len(server.asked), 3)
        self.assertEqual((elsewhere.asked, elsewhere.tokens), ([], 0))

    def test_an_endpoint_that_is_no_version_of_a_gateway_is_told_no_secret(self) -> None:
        server, _ = self.serve(Answer(body=describe("RUNNING")))
        for path in ("", "/name", "/key/name"):
            local = server.endpoint.replace("/key/name/1.0.0", path)
            client: Client[Json, Json, Json] = Client(local, "key", "secret")
            self.addCleanup(client.close)
            client.state(ID)
            self.assertEqual(server.asked[-1].path, f"{path}/{ID}")
            self.assertNotIn("authorization", server.asked[-1].headers)
        self.assertEqual(server.tokens, 0)

    def test_the_same_names_can_be_awaited(self) -> None:
        server, client = self.serve(Answer(body=end("SUCCEEDED", result={"a": 1})))

        async def run_many() -> list[Any]:
            async with AsyncClient(client, 8) as together:
                return list(await asyncio.gather(*[together.result(ID) for _ in range(20)]))

        results = asyncio.run(run_many())
        self.assertEqual([one.value for one in results], [{"a": 1}] * 20)
        self.assertEqual(server.tokens, 1)

    def test_what_is_not_awaited_any_more_takes_no_thread(self) -> None:
        looks = [Answer(body=describe("RUNNING"))] * 6
        _, client = self.serve(
            Answer(201, describe("PENDING")), *looks, Answer(body=describe("FAILED"))
        )

        async def give_up_twice() -> str:
            async with AsyncClient(client, 1) as one_at_a_time:
                for waiting in (one_at_a_time.run({}), one_at_a_time.wait(ID)):
                    with self.assertRaises(TimeoutError):
                        await asyncio.wait_for(waiting, 0.2)
                return (await one_at_a_time.state(ID)).status

        self.assertEqual(asyncio.run(give_up_twice()), "RUNNING")


if __name__ == "__main__":
    unittest.main()
