"""The golden messages of `packages/engine/wire`, seen from Python."""

from __future__ import annotations

import json
import os
import socket
import threading
import typing
import unittest
from collections.abc import Callable
from typing import Any

from service_runner import messages, wire

WIRE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "wire")


def read_samples(name: str) -> list[dict[str, Any]]:
    with open(os.path.join(WIRE, name), encoding="utf-8") as file:
        samples: list[dict[str, Any]] = json.load(file)
    return samples


FRAMES = read_samples("frames.json")
LINES = read_samples("lines.json")
ORDERS = [sample for sample in LINES if sample["from"] == "node"]
EVENTS = [sample for sample in LINES if sample["from"] == "zygote"]


def list_members(union: object) -> dict[str, frozenset[str]]:
    """The first word of each message of a union -> the names of its members."""
    kinds = typing.get_args(union)
    return {kind.__name__: kind.__required_keys__ for kind in kinds}


def send_singly(connection: socket.socket, data: bytes) -> None:
    for byte in data:
        connection.send(bytes([byte]))


class GoldenFrames(unittest.TestCase):
    def test_frames_are_printed_byte_for_byte(self) -> None:
        for sample in FRAMES:
            with self.subTest(sample["name"]):
                frame = wire.encode_frame(sample["type"], sample["text"].encode())
                self.assertEqual(frame.hex(), sample["hex"])

    def test_frames_are_parsed_also_when_they_come_byte_by_byte(self) -> None:
        for sample in FRAMES:
            # Datagrams: each read takes one of them. The kernel holds a few only.
            ours, theirs = socket.socketpair(type=socket.SOCK_DGRAM)
            with self.subTest(sample["name"]), ours, theirs:
                arguments = (theirs, bytes.fromhex(sample["hex"]))
                sender = threading.Thread(target=send_singly, args=arguments, daemon=True)
                sender.start()
                expected = (sample["type"], sample["text"].encode())
                self.assertEqual(wire.FrameReader(ours.fileno()).read(), expected)
                sender.join()

    def test_frames_that_come_together_are_read_one_by_one_however_large(self) -> None:
        frames = [(wire.BODY, b"{}"), (wire.BODY, b"x" * 100_000), (wire.START, b"")]
        ours, theirs = socket.socketpair()
        with ours:
            sender = threading.Thread(
                target=lambda: theirs.sendall(b"".join(wire.encode_frame(*one) for one in frames))
            )
            sender.start()
            reader = wire.FrameReader(ours.fileno())
            self.assertEqual([reader.read() for _ in frames], frames)
            sender.join()
            theirs.close()
            self.assertIsNone(reader.read())

    def test_a_hello_is_the_channel_and_the_token(self) -> None:
        sample = next(sample for sample in FRAMES if sample["type"] == wire.HELLO)
        self.assertEqual(wire.encode_hello("c", sample["text"][1:]).hex(), sample["hex"])

    def test_a_request_is_parsed_into_its_options(self) -> None:
        plain, referring, pooled, writing, traced, third, quantum, external, first = (
            sample["text"] for sample in FRAMES if sample["type"] == wire.REQUEST
        )
        options = wire.decode_request(plain.encode())
        self.assertEqual(
            options,
            {
                **json.loads(plain),
                **dict.fromkeys(("inputs", "files", "outputPool", "quantum", "external")),
                "attempt": 1,
                "trace": {},
            },
        )
        self.assertEqual(options.keys(), messages.RequestOptions.__required_keys__)
        inputs = json.loads(referring)["inputs"]
        parts = {"data": tuple(inputs["data"]), "params": tuple(inputs["params"])}
        self.assertEqual(
            wire.decode_request(referring.encode())["inputs"],
            {"folder": inputs["folder"], "parts": parts, "pools": []},
        )
        [pool] = json.loads(pooled)["inputs"]["pools"]
        decoded = wire.decode_request(pooled.encode())["inputs"]
        assert decoded is not None
        self.assertEqual(decoded["parts"], {"data": (0, 18)})
        self.assertEqual(
            decoded["pools"], [{**pool, "files": [tuple(file) for file in pool["files"]]}]
        )

        self.assertEqual(
            wire.decode_request(writing.encode()),
            {
                **json.loads(writing),
                **dict.fromkeys(("inputs", "quantum", "external")),
                "attempt": 1,
                "trace": {},
            },
        )
        trace = json.loads(traced)["trace"]
        self.assertEqual(
            wire.decode_request(traced.encode())["trace"],
            {"TRACEPARENT": trace["traceparent"], "TRACESTATE": trace["tracestate"]},
        )
        self.assertEqual(wire.decode_request(third.encode())["attempt"], 3)
        self.assertEqual(
            wire.decode_request(quantum.encode())["quantum"], json.loads(quantum)["quantum"]
        )
        for text in (external, first):
            begun = wire.decode_request(text.encode())["external"]
            self.assertEqual(begun, json.loads(text)["external"])

    def test_a_request_whose_inputs_are_not_parts_of_files_is_refused(self) -> None:
        plain = json.loads(
            next(sample["text"] for sample in FRAMES if sample["type"] == wire.REQUEST)
        )
        for inputs in (
            None,
            {},
            {"folder": "/in", "data": [0]},
            {"folder": "/in", "data": [-1, 2]},
            {"folder": "/in", "pools": {}},
            {"folder": "/in", "pools": [1]},
            {"folder": "/in", "pools": [{"path": [], "id": "", "files": []}]},
            {"folder": "/in", "pools": [{"path": ["data", "a", "b"], "id": "", "files": []}]},
            {"folder": "/in", "pools": [{"path": ["data"], "id": 1, "files": []}]},
            {"folder": "/in", "pools": [{"path": ["data"], "id": "", "files": [["a"]]}]},
            {"folder": "/in", "pools": [{"path": ["data"], "id": "", "files": [["a", True]]}]},
        ):
            with self.subTest(inputs=inputs), self.assertRaises(wire.ProtocolError):
                wire.decode_request(json.dumps({**plain, "inputs": inputs}).encode())

    def test_a_frame_above_the_limit_is_refused_before_its_payload_is_read(self) -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            theirs.send(wire.HEADER.pack(11, wire.BODY))
            with self.assertRaises(wire.ProtocolError):
                wire.FrameReader(ours.fileno(), limit=10).read()

    def test_the_end_of_the_stream_is_no_frame_also_within_one(self) -> None:
        for part in (b"", b"\0\0", wire.HEADER.pack(5, wire.BODY) + b"ab"):
            ours, theirs = socket.socketpair()
            with ours:
                theirs.send(part)
                theirs.close()
                self.assertIsNone(wire.FrameReader(ours.fileno()).read())


class GoldenLines(unittest.TestCase):
    def test_lines_are_printed_byte_for_byte(self) -> None:
        for sample in LINES:
            with self.subTest(sample["name"]):
                self.assertEqual(wire.encode_line(sample["value"]), sample["line"].encode() + b"\n")

    def test_orders_are_parsed_and_no_member_is_lost(self) -> None:
        for sample in ORDERS:
            with self.subTest(sample["name"]):
                self.assertEqual(wire.decode_order(sample["line"].encode()), sample["value"])

    def test_the_samples_show_every_order_and_event_with_exactly_its_members(self) -> None:
        for word, union, samples in (
            ("order", messages.Order, ORDERS),
            ("event", messages.Event, EVENTS),
        ):
            declared = list_members(union)
            shown = {
                f"{sample['value'][word].capitalize()}{word.capitalize()}": sample["value"].keys()
                for sample in samples
            }
            self.assertEqual(shown, declared)

    def test_an_order_without_a_member_or_with_one_of_another_type_is_refused(self) -> None:
        for order, name in (
            (sample["value"], name) for sample in ORDERS for name in sample["value"]
        ):
            without = {key: item for key, item in order.items() if key != name}
            for broken in (without, {**without, name: 1.5}, {**without, name: None}):
                with self.subTest(broken=broken):
                    self.assert_refused(wire.decode_order, broken)

    def test_what_is_no_order_is_refused(self) -> None:
        for line in (b"", b"nonsense", b"[]", b"1", b'{"order":"other"}'):
            with self.subTest(line), self.assertRaises(wire.ProtocolError):
                wire.decode_order(line)

    def test_a_fresh_interpreter_reads_what_the_zygote_passes_to_it(self) -> None:
        boot = ORDERS[0]["value"]
        start = {"boot": boot, "id": 7, "connections": [4, 5, 6]}
        self.assertEqual(wire.decode_spawned_start(json.dumps(start).encode()), start)
        self.assert_refused(wire.decode_spawned_start, {**start, "connections": [4, "5", 6]})
        self.assert_refused(wire.decode_spawned_start, {**start, "boot": ORDERS[1]["value"]})
        self.assertEqual(start.keys(), messages.SpawnedStart.__required_keys__)

    def assert_refused(self, decode: Callable[[bytes], object], message: dict[str, Any]) -> None:
        with self.assertRaises(wire.ProtocolError):
            decode(json.dumps(message).encode())


if __name__ == "__main__":
    unittest.main()
