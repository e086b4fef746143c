"""The golden messages of `packages/engine/wire`, seen from Python."""

import json
import os
import socket
import unittest

from service_runner import wire

WIRE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "wire")


def read_samples(name: str) -> list[dict]:
    with open(os.path.join(WIRE, name), encoding="utf-8") as file:
        return json.load(file)


class GoldenMessages(unittest.TestCase):
    def test_frames_are_printed_byte_for_byte(self):
        for sample in read_samples("frames.json"):
            with self.subTest(sample["name"]):
                self.assertEqual(
                    wire.encode_frame(sample["type"], sample["text"].encode()).hex(), sample["hex"]
                )

    def test_frames_are_parsed_also_when_they_come_byte_by_byte(self):
        for sample in read_samples("frames.json"):
            with self.subTest(sample["name"]):
                ours, theirs = socket.socketpair()
                with ours, theirs:
                    for byte in bytes.fromhex(sample["hex"]):
                        theirs.send(bytes([byte]))
                    self.assertEqual(
                        wire.read_frame(ours), (sample["type"], bytearray(sample["text"].encode()))
                    )

    def test_a_hello_is_the_channel_and_the_token(self):
        sample = next(
            sample for sample in read_samples("frames.json") if sample["type"] == wire.HELLO
        )
        self.assertEqual(wire.encode_hello("c", sample["text"][1:]).hex(), sample["hex"])

    def test_a_frame_above_the_limit_is_refused_before_its_payload_is_read(self):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            theirs.send(wire.HEADER.pack(11, wire.BODY))
            with self.assertRaises(wire.ProtocolError):
                wire.read_frame(ours, limit=10)

    def test_the_end_of_the_stream_is_no_frame_also_within_one(self):
        for part in (b"", b"\0\0", wire.HEADER.pack(5, wire.BODY) + b"ab"):
            ours, theirs = socket.socketpair()
            with ours:
                theirs.send(part)
                theirs.close()
                self.assertIsNone(wire.read_frame(ours))

    def test_lines_are_printed_and_parsed_byte_for_byte(self):
        for sample in read_samples("lines.json"):
            with self.subTest(sample["name"]):
                self.assertEqual(wire.encode_line(sample["value"]), sample["line"].encode() + b"\n")
                self.assertEqual(wire.decode_line(sample["line"].encode()), sample["value"])


if __name__ == "__main__":
    unittest.main()
