"""What separates a child: namespaces, session, limits, directories.

What comes of it for runs is tested through Node (`isolation.test.ts`, `siblings.test.ts`).
"""

import errno
import os
import resource
import tempfile
import unittest

from service_runner import isolation
from service_runner.kernel import LINUX

from .support import read_output, run_python

SOFT_AND_HARD = """
import os, resource
from service_runner import isolation
MEBIBYTE = 1 << 20
def show(kind):
    return tuple(n // MEBIBYTE if n > MEBIBYTE else n for n in resource.getrlimit(kind))
"""


class Limits(unittest.TestCase):
    @unittest.skipUnless(LINUX, "only Linux counts RLIMIT_DATA as this needs it")
    def test_memory_is_limited_on_top_of_what_the_zygote_has_and_keeps_a_reserve(self) -> None:
        program = """
isolation.limit_resources(100 * MEBIBYTE, 50 * MEBIBYTE, 7)
kinds = (resource.RLIMIT_DATA, resource.RLIMIT_NPROC, resource.RLIMIT_CORE)
print([show(kind) for kind in kinds])
isolation.release_reserve()
print(show(resource.RLIMIT_DATA))
try:
    bytearray(300 * MEBIBYTE)
except MemoryError:
    print("refused")
"""
        expected = "[(150, 182), (7, 7), (0, 0)]\n(182, 182)\nrefused\n"
        self.assertEqual(read_output(SOFT_AND_HARD + program), expected)

    @unittest.skipUnless(LINUX, "only Linux counts RLIMIT_DATA as this needs it")
    def test_limits_of_the_import_are_lifted_after_it(self) -> None:
        program = """
before = resource.getrlimit(resource.RLIMIT_DATA), resource.getrlimit(resource.RLIMIT_NPROC)
isolation.limit_import(100 * MEBIBYTE, 7)
soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
print(soft - isolation.read_data_size() <= 100 * MEBIBYTE, hard == before[0][1])
print(resource.getrlimit(resource.RLIMIT_NPROC)[0])
isolation.lift_import_limits()
print([resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_DATA, resource.RLIMIT_NPROC)]
      == [limit[1] for limit in before])
"""
        self.assertEqual(read_output(SOFT_AND_HARD + program), "True True\n7\nTrue\n")

    def test_a_limit_is_never_raised(self) -> None:
        program = """
resource.setrlimit(resource.RLIMIT_NOFILE, (20, 30))
isolation.limit_resources(MEBIBYTE, 1 << 40, None)
print(resource.getrlimit(resource.RLIMIT_NOFILE))
"""
        self.assertEqual(read_output(SOFT_AND_HARD + program), "(30, 30)\n")

    @unittest.skipUnless(LINUX, "reads /proc")
    def test_the_data_size_counts_what_is_allocated(self) -> None:
        before = isolation.read_data_size()
        data = bytearray(50 << 20)
        self.assertGreaterEqual(isolation.read_data_size() - before, len(data))
        soft, _ = resource.getrlimit(resource.RLIMIT_DATA)
        self.assertTrue(soft == resource.RLIM_INFINITY or soft > before)


class Session(unittest.TestCase):
    def test_a_child_leads_a_session_of_its_own_and_its_files_are_private(self) -> None:
        program = """
import os
from service_runner import isolation
parent = os.getpid()
if os.fork() == 0:
    isolation.lead_session(parent)
    print(os.getsid(0) == os.getpid(), oct(os.umask(0)), flush=True)
    os._exit(0)
os.wait()
"""
        self.assertEqual(read_output(program), "True 0o77\n")

    def test_a_child_whose_zygote_died_ends(self) -> None:
        program = """
import os
from service_runner import isolation
if os.fork() == 0:
    isolation.lead_session(os.getppid() + 1)
    print("goes on", flush=True)
os.wait()
"""
        self.assertEqual(read_output(program), "")


NAMESPACES = """
import os, socket, sys
from service_runner import child, isolation, kernel
separation = {"namespaces": True, "network": sys.argv[1], "filter": None, "landlock": None}
boot = {"isolation": separation, "memory": 1 << 20, "keep": []}
parent, user = child.Parent(boot), (os.getuid(), os.getgid())
try:
    pid = kernel.clone(isolation.list_namespaces(boot["isolation"]))
except OSError as error:
    sys.exit(f"refused: {error}")
if pid > 0:
    os._exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
child.separate(parent)
"""


@unittest.skipUnless(LINUX, "namespaces are Linux's")
class Namespaces(unittest.TestCase):
    def read(self, program: str, network: str) -> str:
        done = run_python(NAMESPACES + program, network)
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
        expected = "1 0 ['1'] [0, 0, 0, 0] True []\n"
        self.assertEqual(self.read(program, "shared"), expected)

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
        for code, remedy in (
            (errno.ENOSPC, "the user namespaces are used up, raise user.max_user_namespaces"),
            (errno.EPERM, "the sandbox must allow nested user namespaces"),
        ):
            text = isolation.explain_refusal(OSError(code, "clone"))
            self.assertEqual(text, f"[Errno {code}] clone: {remedy}")


class Folders(unittest.TestCase):
    def test_without_a_private_tmp_each_execution_has_a_folder_of_its_own(self) -> None:
        program = """
import os, sys, tempfile
from service_runner import isolation
scratch = sys.argv[1]
tempfile.gettempdir()
isolation.create_folders(False, scratch, "7")
names = ("HOME", "TMPDIR", "OUTPUT_DIRECTORY")
print([os.environ[name] for name in names], tempfile.gettempdir())
print(oct(os.stat(os.environ["HOME"]).st_mode & 0o777), os.listdir(os.environ["HOME"]))
open(os.path.join(os.environ["OUTPUT_DIRECTORY"], "left"), "w").close()
isolation.remove_folders(scratch, "7")
isolation.remove_folders(scratch, "7")
print(os.listdir(scratch))
"""
        with tempfile.TemporaryDirectory() as scratch:
            home = os.path.join(scratch, "7")
            output = os.path.join(home, "output")
            self.assertEqual(
                read_output(program, scratch),
                f"{[home, home, output]} {home}\n0o700 ['output']\n[]\n",
            )


if __name__ == "__main__":
    unittest.main()
