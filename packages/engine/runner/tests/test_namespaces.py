"""The namespaces of a child.

What comes of them for runs is tested through Node (`isolation.test.ts`, `siblings.test.ts`).
"""

import errno
import os
import tempfile
import unittest

from service_runner import namespaces
from service_runner.kernel import LINUX

from .support import run_python

NAMESPACES = """
import os, socket, sys
from service_runner import child, kernel, namespaces
separation = {"namespaces": True, "network": sys.argv[1], "filter": None}
separation.update(landlock=None, opened=[])
boot = {"isolation": separation, "memory": 1 << 20, "children": 4, "keep": sys.argv[2:]}
parent, user = child.Parent(boot), (os.getuid(), os.getgid())
try:
    pid = kernel.Clone(namespaces.list_namespaces(boot["isolation"])).make()
except OSError as error:
    sys.exit(f"refused: {error}")
if pid > 0:
    os._exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
child.separate(parent)
"""


@unittest.skipUnless(LINUX, "namespaces are Linux's")
class Namespaces(unittest.TestCase):
    def read(self, program: str, network: str, *keep: str) -> str:
        done = run_python(NAMESPACES + program, network, *keep)
        if done.stderr.startswith("refused: "):
            self.skipTest(done.stderr)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_a_child_is_pid_1_of_what_it_sees_without_any_right(self) -> None:
        program = """
names = [name for name in os.listdir("/proc") if name.isdigit()]
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
rights = [int(status[name], 16) for name in ("CapEff", "CapPrm", "CapInh", "CapAmb")]
same_user = (os.getuid(), os.getgid()) == user
print(os.getpid(), os.getppid(), names, rights, same_user, os.listdir("/tmp"), flush=True)
"""
        expected = "1 0 ['1'] [0, 0, 0, 0] True ['output']\n"
        self.assertEqual(self.read(program, "shared"), expected)

    def test_a_child_leads_a_session_its_files_are_private_and_it_is_killed_first(self) -> None:
        program = """
with open("/proc/self/oom_score_adj") as file:
    print(os.getsid(0), oct(os.umask(0)), file.read().strip(), flush=True)
"""
        self.assertEqual(self.read(program, "shared"), "1 0o77 1000\n")

    def test_what_is_kept_of_a_shared_tmp_is_there_and_nothing_else(self) -> None:
        with tempfile.TemporaryDirectory(dir="/tmp") as kept:
            os.chmod(kept, 0o755)
            with open(os.path.join(kept, "file"), "w", encoding="ascii"):
                pass
            program = """
print(sorted(os.listdir("/tmp")), os.listdir(sys.argv[2]), os.listdir("/proc/self/fd"), flush=True)
"""
            names = sorted([os.path.basename(kept), "output"])
            expected = f"{names} ['file'] ['0', '1', '2', '3']\n"
            self.assertEqual(self.read(program, "shared", kept), expected)

    def test_a_child_can_make_no_namespaces_which_would_count_against_the_zygote(self) -> None:
        program = """
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
print(libc.unshare(kernel.CLONE_NEWUSER), errno.errorcode[ctypes.get_errno()], flush=True)
"""
        self.assertEqual(self.read(program, "shared"), "-1 ENOSPC\n")

    def test_what_needs_a_sound_copy_works_in_it(self) -> None:
        """Threads, locks, subprocesses and forks, though CPython and glibc know of no fork."""
        program = """
import asyncio, concurrent.futures, logging, multiprocessing, random, subprocess, threading
def add(a, b): return a + b
lock = threading.RLock()
with lock, lock:
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        numbers = list(pool.map(add, range(100), range(100)))
print(sum(numbers), threading.current_thread() is threading.main_thread())
print(subprocess.run(["echo", "a"], capture_output=True, text=True).stdout.strip())
async def talk():
    process = await asyncio.create_subprocess_exec("echo", "b", stdout=subprocess.PIPE)
    return (await process.communicate())[0]
print(asyncio.run(talk()).decode().strip())
with multiprocessing.get_context("fork").Pool(2) as processes:
    print(processes.starmap(add, [(1, 2), (3, 4)]))
os.mkdir("/tmp/x")
if os.fork() == 0:
    logging.getLogger().warning
    os._exit(os.getpid() == 1)
print(os.waitstatus_to_exitcode(os.wait()[1]), flush=True)
"""
        self.assertEqual(self.read(program, "shared"), "9900 True\na\nb\n[3, 7]\n0\n")

    def test_a_network_of_its_own_is_loopback_and_nothing_else(self) -> None:
        program = """
with socket.create_server(("127.0.0.1", 0)) as server:
    socket.create_connection(server.getsockname()).close()
print([name for _, name in socket.if_nameindex()])
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as outside:
    try:
        outside.connect(("192.0.2.1", 9))
        print("a route", flush=True)
    except OSError as error:
        print(error.strerror, flush=True)
"""
        printed = self.read(program, "own").splitlines()
        self.assertIn("lo", printed[0])
        self.assertEqual(printed[1:], ["Network is unreachable"])

    def test_the_text_of_a_refusal_says_what_to_do(self) -> None:
        used_up = "by this version at import, or raise user.max_user_namespaces"
        for code, remedy in (
            (errno.ENOSPC, f"the user namespaces are used up: {used_up}"),
            (errno.EPERM, "the sandbox must allow nested user namespaces"),
        ):
            text = namespaces.explain_refusal(OSError(code, "clone"))
            self.assertEqual(text, f"[Errno {code}] clone: {remedy}")


if __name__ == "__main__":
    unittest.main()
