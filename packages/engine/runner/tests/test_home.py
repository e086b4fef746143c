"""Connections that a zygote makes for its children, to a socket of the test."""

import os
import socket
import tempfile
import threading
import unittest
import unittest.mock

from service_runner import wire
from service_runner.home import Connections, DistantHome, Home, serve_distant
from service_runner.kernel import LINUX

from .support import read_output

TOKEN = "0123456789abcdef0123456789abcdef"


class Dialling(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "home")
        self.server = socket.socket(socket.AF_UNIX)
        self.addCleanup(self.server.close)
        self.server.bind(self.path)
        self.server.listen()

    def accept(self) -> tuple[socket.socket, str]:
        connection, _ = self.server.accept()
        self.addCleanup(connection.close)
        frame = wire.FrameReader(connection.fileno()).read()
        assert frame is not None
        return connection, frame[1].decode()

    def check(self, connections: Connections) -> None:
        accepted = [self.accept() for _ in range(3)]
        self.assertEqual([hello for _, hello in accepted], [name + TOKEN for name in "coe"])
        descriptors = (connections.control, connections.out, connections.err)
        for descriptor, (connection, _) in zip(descriptors, accepted, strict=True):
            os.write(descriptor, b"x")
            self.assertEqual(connection.recv(1), b"x")
            self.assertFalse(os.get_inheritable(descriptor))
        connections.close()
        self.assertEqual([connection.recv(1) for connection, _ in accepted], [b""] * 3)

    def test_each_of_the_three_says_which_it_is(self) -> None:
        self.check(Home(self.path).dial(TOKEN))

    @unittest.skipUnless(LINUX, "needs O_PATH")
    def test_the_path_may_be_removed_and_what_is_left_is_one_descriptor(self) -> None:
        home = Home(self.path)
        os.unlink(self.path)
        home.dial(TOKEN).close()
        (descriptor,) = home.list_descriptors()
        os.close(descriptor)
        with self.assertRaises(OSError):
            home.dial(TOKEN)

    def start_steward(self) -> DistantHome:
        line, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        scratch = os.open(self.folder.name, os.O_RDONLY)
        self.addCleanup(os.close, scratch)
        self.steward = threading.Thread(target=serve_distant, args=(line, Home(self.path), scratch))
        self.steward.start()
        distant = DistantHome(far.detach())
        self.addCleanup(self.end_steward, distant)
        return distant

    def end_steward(self, distant: DistantHome) -> None:
        distant._line.close()
        self.steward.join()

    @unittest.skipUnless(LINUX, "only Linux has level C")
    def test_the_steward_dials_for_who_may_make_no_sockets(self) -> None:
        self.check(self.start_steward().dial(TOKEN))

    @unittest.skipUnless(LINUX, "only Linux has level C")
    def test_the_steward_goes_on_after_nonsense_and_when_it_cannot_connect(self) -> None:
        distant = self.start_steward()
        self.server.close()
        for message in (b"d" + b"\xff" * 32, b"?", b"d" + TOKEN.encode()):
            distant._line.send(message)
            self.assertEqual(socket.recv_fds(distant._line, 1, 3)[:2], (b"-", []))
        with self.assertRaises(ConnectionRefusedError):
            distant.dial(TOKEN)

    @unittest.skipUnless(LINUX, "only Linux has level C")
    def test_the_steward_removes_folders_of_the_child_that_is_named_and_no_others(self) -> None:
        for name in ("7-a", "77-a", "7"):
            os.makedirs(os.path.join(self.folder.name, name, "output"))
        distant = self.start_steward()
        distant._line.send(b"r../7")
        distant.remove_folders("", 7)
        self.end_steward(distant)
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["7", "77-a", "home"])

    @unittest.skipUnless(LINUX, "only Linux has level C")
    def test_nobody_waits_for_the_removal_of_many_files(self) -> None:
        folder = os.path.join(self.folder.name, "7-a")
        os.mkdir(folder)
        for number in range(20_000):
            os.mknod(f"{folder}/{number}")
        distant = self.start_steward()
        distant.remove_folders("", 7)
        self.check(distant.dial(TOKEN))
        self.assertTrue(os.path.exists(folder))
        self.end_steward(distant)
        self.assertFalse(os.path.exists(folder))

    @unittest.skipUnless(LINUX, "only Linux has level C")
    def test_the_steward_keeps_only_so_many_removals_in_mind(self) -> None:
        for name in ("7-a", "8-a"):
            os.mkdir(os.path.join(self.folder.name, name))
        for most, left in ((0, ["7-a", "8-a", "home"]), (1, ["7-a", "home"])):
            with unittest.mock.patch("service_runner.home._MOST_WAITING", most):
                distant = self.start_steward()
                distant.remove_folders("", 8)
                self.end_steward(distant)
            self.assertEqual(sorted(os.listdir(self.folder.name)), left)

    @unittest.skipUnless(LINUX, "only Linux has level C")
    def test_the_steward_goes_on_when_the_system_refuses_to_pass_connections_on(self) -> None:
        program = """
import os, queue, resource, socket, sys, threading
from service_runner.home import DistantHome, Home, serve_distant
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
home = Home(sys.argv[1])
line, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
scratch = os.open("/", os.O_RDONLY)
threading.Thread(target=serve_distant, args=(line, home, scratch), daemon=True).start()
distant = DistantHome(far.detach())
hoard, end = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
for _ in range(3):  # so many may be under way for each user as it may have open
    socket.send_fds(hoard, [b"x"], [0] * 200)
resource.setrlimit(resource.RLIMIT_NOFILE, (500, 500))
try:
    distant.dial(sys.argv[2])
except ConnectionRefusedError:
    print("refused")
hoard.close()
end.close()
distant.dial(sys.argv[2]).close()
print("connected", flush=True)
os._exit(0)
"""
        os.chmod(self.folder.name, 0o755)
        os.chmod(self.path, 0o666)
        output = read_output(program, self.path, TOKEN)
        self.assertEqual(output, "refused\nconnected\n")

    def test_what_cannot_be_removed_ends_nobody(self) -> None:
        home = Home(self.path)
        home.remove_folders(os.path.join(self.folder.name, "removed by a run"), 7)
        distant = self.start_steward()
        distant._line.shutdown(socket.SHUT_RDWR)
        distant.remove_folders("", 7)

    def test_nothing_stays_open_when_node_is_gone(self) -> None:
        home = Home(self.path)
        self.server.close()
        before = os.listdir("/dev/fd")
        with self.assertRaises(ConnectionRefusedError):
            home.dial(TOKEN)
        self.assertEqual(os.listdir("/dev/fd"), before)


if __name__ == "__main__":
    unittest.main()
