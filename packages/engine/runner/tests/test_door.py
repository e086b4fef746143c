"""The way of a run to the quantum API: sockets that are led through the door."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

PROGRAM = """
import json, os, socket, sys
from service_runner.door import open_door
os.environ.update(json.loads(sys.argv[2]))
open_door({"token": "t", "door": sys.argv[1], "published": True})
def ask(address):
    with socket.socket() as one:
        one.settimeout(5)
        one.connect(address)
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        one.sendall(b"ping")
        return one.recv(4).decode(), one.gettimeout(), os.get_blocking(one.fileno())
def ask_plainly():
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", 890)), one.connect_ex(("127.0.0.1", 1))
print(json.dumps(eval(sys.argv[3])))
"""


class Door(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "door")
        self.server = socket.socket(socket.AF_UNIX)
        self.addCleanup(self.server.close)
        self.server.bind(self.path)
        self.server.listen()
        threading.Thread(target=self.answer, daemon=True).start()

    def answer(self) -> None:
        while True:
            try:
                connection, _ = self.server.accept()
            except OSError:
                return
            with connection:
                if connection.recv(4) == b"ping":
                    connection.sendall(b"pong")

    def run_program(self, action: str, variables: "dict[str, str] | None" = None) -> object:
        command = [sys.executable, "-c", PROGRAM, self.path, json.dumps(variables or {}), action]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
        return json.loads(done.stdout)

    def test_a_connection_to_the_address_is_one_to_the_door_and_takes_options_of_tcp(self) -> None:
        self.assertEqual(self.run_program('ask(("127.0.0.1", 890))'), ["pong", 5, False])

    def test_other_addresses_are_as_ever(self) -> None:
        self.assertEqual(self.run_program("[bool(one) for one in ask_plainly()]"), [False, True])

    def test_where_the_door_is_closed_the_connection_is_refused(self) -> None:
        os.unlink(self.path)
        action = '[one.connect_ex(("127.0.0.1", 890)) for one in [socket.socket()]]'
        self.assertEqual(self.run_program(action), [111])

    def test_options_of_other_sockets_are_set_as_ever(self) -> None:
        text = (
            "(lambda one: [one.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),"
            " one.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)])(socket.socket())"
        )
        self.assertEqual(self.run_program(text), [None, 1])

    def test_no_token_is_named_beside_the_address_of_another_platform(self) -> None:
        names = 'sorted(name for name, value in os.environ.items() if value == "t")'
        self.assertEqual(
            self.run_program(names, {"PLANQK_QUANTUM_BASE_URL": "https://example.org"}),
            ["PLATFORM_SERVICE_EXECUTION_TOKEN"],
        )
        self.assertNotIn(
            "PLATFORM_SERVICE_EXECUTION_TOKEN",
            self.run_program(names, {"PLATFORM_ENDPOINT": "https://example.org"}),  # type: ignore[arg-type]
        )
