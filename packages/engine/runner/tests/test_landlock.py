"""What Landlock refuses and allows, on the kernel that runs the tests."""

import unittest

from service_runner import landlock

from .support import read_output

CONFINED = """
import errno, os, signal, socket, subprocess, sys, tempfile
from service_runner import kernel, landlock, namespaces
from service_runner.calls import Calls
kernel.set_process_option(kernel.PR_SET_NO_NEW_PRIVS, 1)
def attempt(name, function):
    try:
        function()
        print(name, "done")
    except OSError as error:
        print(name, errno.errorcode[error.errno])
own, used, other = (tempfile.mkdtemp() for _ in range(3))
for folder in (used, other):
    with open(f"{folder}/old", "w") as file:
        file.write("old")
def write(path):
    with open(path, "w") as file:
        file.write("x")
def read(path):
    with open(path) as file:
        file.read()
def mount(folder):
    calls = Calls()
    namespaces.add_mount(calls, "tmpfs", folder, 0, "")
    calls.make()
def confine(**options):
    landlock.Confinement(["/usr", "/lib", "/lib64", "/etc"], [used, "/dev/null", "/absent"], [own],
                         **options).enter()
"""


@unittest.skipUnless(landlock.find_version() >= landlock.LEAST_VERSION, "no Landlock here")
class Files(unittest.TestCase):
    def test_a_child_changes_what_is_its_own_and_reads_what_is_shown(self) -> None:
        program = """
confine()
os.mkdir(f"{own}/folder")
attempt("own write", lambda: write(f"{own}/a"))
attempt("own move", lambda: os.rename(f"{own}/a", f"{own}/folder/b"))
attempt("own link", lambda: os.symlink("b", f"{own}/folder/c"))
attempt("own fifo", lambda: os.mkfifo(f"{own}/fifo"))
attempt("own device", lambda: os.mknod(f"{own}/null", 0o020600, os.makedev(1, 3)))
attempt("own remove", lambda: os.unlink(f"{own}/folder/b"))
attempt("used write", lambda: write(f"{used}/old"))
attempt("used create", lambda: write(f"{used}/new"))
attempt("used remove", lambda: os.unlink(f"{used}/old"))
attempt("used move", lambda: os.rename(f"{used}/old", f"{own}/old"))
attempt("null", lambda: write("/dev/null"))
attempt("usr read", lambda: os.listdir("/usr"))
attempt("usr run", lambda: subprocess.run(["/usr/bin/env", "true"], check=True))
attempt("usr write", lambda: write("/usr/new"))
attempt("other read", lambda: read(f"{other}/old"))
attempt("other list", lambda: os.listdir(other))
attempt("other truncate", lambda: os.truncate(f"{other}/old", 0))
attempt("mount", lambda: mount(own))
"""
        lines = dict(line.rsplit(" ", 1) for line in read_output(CONFINED + program).splitlines())
        if landlock.find_version() < 3:
            self.skipTest("truncation is not refused before version 3")
        done = {
            *("own write", "own move", "own link", "own fifo", "own remove"),
            *("used write", "null", "usr read", "usr run"),
        }
        self.assertEqual({name for name, end in lines.items() if end == "done"}, done)
        self.assertLessEqual(set(lines.values()), {"done", "EACCES", "EPERM", "EXDEV"})

    def test_below_what_is_opened_files_are_read_by_those_who_know_their_names(self) -> None:
        program = """
os.mkdir(f"{other}/folder")
os.rename(f"{other}/old", f"{other}/folder/old")
confine(opened=[other])
attempt("read", lambda: read(f"{other}/folder/old"))
attempt("list", lambda: os.listdir(other))
os.chmod(other, 0o777)
attempt("list after chmod", lambda: os.listdir(other))
attempt("list below", lambda: os.listdir(f"{other}/folder"))
attempt("write", lambda: write(f"{other}/folder/old"))
attempt("create", lambda: write(f"{other}/folder/new"))
"""
        refused = ("list", "list after chmod", "list below", "write", "create")
        self.assertEqual(
            read_output(CONFINED + program),
            "read done\n" + "".join(f"{name} EACCES\n" for name in refused),
        )

    def test_what_the_child_starts_is_confined_too(self) -> None:
        program = """
confine()
print(subprocess.run(["/usr/bin/env", "cat", f"{other}/old"], capture_output=True).stdout)
"""
        self.assertEqual(read_output(CONFINED + program), "b''\n")

    def test_the_rights_of_older_versions_are_known(self) -> None:
        program = """
confine(version=2)
attempt("own write", lambda: write(f"{own}/a"))
attempt("other read", lambda: read(f"{other}/old"))
"""
        self.assertEqual(read_output(CONFINED + program), "own write done\nother read EACCES\n")


@unittest.skipUnless(landlock.find_version() >= 6, "Landlock without scopes")
class Scopes(unittest.TestCase):
    def test_a_child_reaches_its_own_processes_only(self) -> None:
        program = """
outside = subprocess.Popen(["/usr/bin/env", "sleep", "60"])
door = socket.socket(socket.AF_UNIX)
door.bind("\\0outside%d" % os.getpid())
door.listen()
def dial(name):
    with socket.socket(socket.AF_UNIX) as end:
        end.connect(name)
if os.fork() == 0:
    confine()
    attempt("signal", lambda: os.kill(outside.pid, 0))
    attempt("parent", lambda: os.kill(os.getppid(), 0))
    attempt("dial", lambda: dial(door.getsockname()))
    attempt("itself", lambda: os.kill(os.getpid(), 0))
    inside = subprocess.Popen(["/usr/bin/env", "sleep", "60"])
    attempt("child", inside.kill)
    own_door = socket.socket(socket.AF_UNIX)
    own_door.bind("\\0inside%d" % os.getpid())
    own_door.listen()
    attempt("own dial", lambda: dial(own_door.getsockname()))
    sys.stdout.flush()
    os._exit(0)
os.wait()
outside.kill()
outside.wait()
door.close()
"""
        self.assertEqual(
            read_output(CONFINED + program),
            "signal EPERM\nparent EPERM\ndial EPERM\nitself done\nchild done\nown dial done\n",
        )


if __name__ == "__main__":
    unittest.main()
