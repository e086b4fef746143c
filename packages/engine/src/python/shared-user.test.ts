import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createLimitedRunner, ORDINARY_RUNNERS } from "../testing/ordinary-user.ts";
import type { VersionRunner } from "../testing/version-runner.ts";

/* Versions that have no user of their own: what the kernel counts for the user of the worker, and they could take from it. */

/** Epoll by the calls themselves and by Python, at import and in an execution; and what falls back to poll. */
const PROGRAM = `
import asyncio, ctypes, errno, os, select, selectors, socket, sys

libc = ctypes.CDLL(None, use_errno=True)
CALLS = {"epoll_create": (213, None), "epoll_create1": (291, 20)}

def name(number):
    return errno.errorcode[number]

def call(number):
    ctypes.set_errno(0)
    return "done" if number is None or libc.syscall(number, 1) >= 0 else name(ctypes.get_errno())

def open_epoll():
    try:
        select.epoll()
        return "done"
    except OSError as error:
        return name(error.errno)

def attack():
    column = 0 if os.uname().machine == "x86_64" else 1
    numbers = [numbers[column] for numbers in CALLS.values()]
    return [*(call(number) for number in numbers if number is not None), open_epoll()]

AT_IMPORT = attack()

async def talk():
    loop = asyncio.get_running_loop()
    begun = loop.time()
    await asyncio.wait([asyncio.ensure_future(asyncio.sleep(0.02)) for _ in range(10)])
    late = loop.time() - begun
    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=ours)
    _, answer = await asyncio.open_connection(sock=theirs)
    answer.write(b"by socket")
    said = [await reader.read(9)]
    source, sink = os.pipe()
    lines = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), os.fdopen(source, "rb"))
    await loop.run_in_executor(None, os.write, sink, b"by pipe")
    said.append(await lines.read(7))
    program = [sys.executable, "-I", "-S", "-c", "print('by process', end='')"]
    process = await asyncio.create_subprocess_exec(*program, stdout=asyncio.subprocess.PIPE)
    said.append((await process.communicate())[0])
    answer.close(), writer.close()
    return [0.02 <= late < 5, *(text.decode() for text in said)]

def run():
    return [AT_IMPORT, attack(), selectors.DefaultSelector.__name__, asyncio.run(talk())]
`;

/** Of files that are the worker's: its own, which no other has, and the runner's, which all versions read at their start. */
const LEASES = `
import fcntl, glob, os, service_runner

def lease():
    taken = []
    for path in [__file__, *glob.glob(os.path.dirname(service_runner.__file__) + "/*.py")]:
        for kind in (fcntl.F_WRLCK, fcntl.F_RDLCK):
            try:
                fcntl.fcntl(os.open(path, os.O_RDONLY | os.O_NONBLOCK), fcntl.F_SETLEASE, kind)
                taken.append(path)
            except OSError:
                pass
    return taken

AT_IMPORT = lease()

def run():
    return [*AT_IMPORT, *lease()]
`;

/**
 * Of what is of the worker's user and not the run's own: the folder of inputs and all above, the project, the runner. What is tried changes a
 * mode a little, so that all works where it succeeds.
 */
const OWNER = `
import contextlib, ctypes, fcntl, os, service_runner, shutil, struct, tempfile
LIBC = ctypes.CDLL(None)
GET_FLAGS, SET_FLAGS, NO_DUMP = 0x80086601, 0x40086602, 0x40
AT_EMPTY_PATH = 0x1000

def list_shared():
    home = os.environ["HOME"]
    zygote = "/run/platform/zygote" if home == "/tmp" else os.path.dirname(os.path.dirname(home))
    paths = [os.path.join(zygote, "in"), os.path.join(zygote, "scratch"), __file__, service_runner.__file__]
    for path in list(paths):
        while path != "/":
            path = os.path.dirname(path)
            paths.append(path)
    return [path for path in dict.fromkeys(paths) if os.path.exists(path)]

def describe(path):
    found = os.stat(path)
    names = flags = None
    with contextlib.suppress(OSError):
        names = os.listxattr(path)
        flags = fcntl.ioctl(os.open(path, os.O_RDONLY), GET_FLAGS, bytes(8))
    return [oct(found.st_mode), found.st_mtime, names, flags]

def change(path):
    mode = os.stat(path).st_mode & 0o7777 ^ 0o1
    named = os.open(path, os.O_PATH)
    ways = [
        lambda: os.chmod(path, mode),
        lambda: os.chmod(f"/proc/self/fd/{named}", mode),
        lambda: LIBC.syscall(452, named, b"", mode, AT_EMPTY_PATH),
        lambda: os.fchmod(os.open(path, os.O_RDONLY), mode),
        lambda: os.utime(path, (1, 1)),
        lambda: os.utime(os.open(path, os.O_RDONLY), (2, 2)),
        lambda: os.setxattr(path, "user.x", b"x"),
        lambda: fcntl.ioctl(os.open(path, os.O_RDONLY), SET_FLAGS, struct.pack("q", NO_DUMP)),
        lambda: os.setxattr(path, "system.posix_acl_access", bytes.fromhex("02000000010007ffffffffff040007ffffffffff200007ffffffffff")),
    ]
    changed = []
    for number, way in enumerate(ways):
        before = describe(path)
        with contextlib.suppress(OSError):
            way()
        if describe(path) != before:
            changed.append([path, number])
    return changed

def attack():
    return [found for path in list_shared() for found in change(path)]

AT_IMPORT = attack()

def copy():
    folder = tempfile.mkdtemp()
    os.makedirs(os.path.join(folder, "a", "b"))
    with open(os.path.join(folder, "a", "b", "text"), "w") as file:
        file.write("copied")
    shutil.copytree(os.path.join(folder, "a"), os.path.join(folder, "c"))
    shutil.make_archive(os.path.join(folder, "all"), "tar", folder, "c")
    shutil.unpack_archive(os.path.join(folder, "all.tar"), os.path.join(folder, "d"))
    return open(shutil.copy2(os.path.join(folder, "d", "c", "b", "text"), os.path.join(folder, "e"))).read()

def run():
    return [AT_IMPORT, attack(), copy()]
`;

/** Where it has no private /tmp, its folder lies beside those of its siblings. */
const WATCH = `
import ctypes, os
LIBC = ctypes.CDLL(None)
IN_CREATE = 0x100

def run():
    home = os.environ["HOME"]
    zygote = "/run/platform/zygote" if home == "/tmp" else os.path.dirname(os.path.dirname(home))
    paths = [os.path.join(zygote, "in"), *([] if home == "/tmp" else [os.path.dirname(home)])]
    return [path for path in paths if LIBC.inotify_add_watch(LIBC.inotify_init(), path.encode(), IN_CREATE) >= 0]
`;

/** Of the worker, where it is seen: each is set to what it is. */
const SETTINGS = `
import contextlib, os, resource

def read(path):
    with contextlib.suppress(OSError), open(path, "rb") as file:
        return file.read()
    return b""

def attack(pid):
    ways = [
        lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, resource.prlimit(pid, resource.RLIMIT_NOFILE)),
        lambda: resource.prlimit(pid, resource.RLIMIT_CPU, (-1, -1)),
        lambda: os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, pid)),
        lambda: os.setpriority(os.PRIO_USER, 0, os.getpriority(os.PRIO_USER, 0)),
        lambda: os.sched_setaffinity(pid, os.sched_getaffinity(pid)),
        lambda: os.sched_setscheduler(pid, os.SCHED_OTHER, os.sched_param(0)),
    ]
    done = []
    for number, way in enumerate(ways):
        with contextlib.suppress(OSError):
            way()
            done.append(number)
    return done

def attack_worker():
    workers = [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and b"run-versions" in read(f"/proc/{pid}/cmdline")]
    return [len(workers) > 0, *(number for pid in workers for number in attack(pid))]

AT_IMPORT = attack_worker()
os.sched_setaffinity(0, os.sched_getaffinity(0))
resource.setrlimit(resource.RLIMIT_NOFILE, resource.getrlimit(resource.RLIMIT_NOFILE))

def run():
    return [AT_IMPORT, attack_worker()]
`;

describe.each(ORDINARY_RUNNERS)("run by an ordinary user, %s", (how, createRunner) => {
  let runner: VersionRunner;
  beforeAll(async () => {
    runner = await createRunner();
  });
  afterAll(() => runner.close());

  test("a version takes nothing that epoll watches from its worker, and its event loop works all the same", async () => {
    const { result } = await runner.run({ program: PROGRAM });
    const refused = Array.from({ length: process.arch === "x64" ? 3 : 2 }, () => "ENOSYS");
    const talk = [true, "by socket", "by pipe", "by process"];
    expect(result).toEqual({ value: [refused, refused, "PollSelector", talk] });
  });

  test("a version takes no leases of the worker's files, which other versions and the worker would wait for", async () => {
    expect((await runner.run({ program: LEASES })).result).toEqual({ value: [] });
  });

  test("a version changes no limits and priorities of its worker, at import neither", async () => {
    const { result, outcome } = await runner.run({ program: SETTINGS });
    const isSeen = how === "without";
    expect([result, outcome]).toEqual([{ value: [[isSeen], [isSeen]] }, expect.anything()]);
  });

  test("a run watches no folder in which its siblings' names stand", async () => {
    expect((await runner.run({ program: WATCH })).result).toEqual({ value: [] });
  });

  test("a version changes no permissions, times and attributes of what the worker's user owns, and copies and unpacks its own files", async () => {
    const { result, outcome } = await runner.run({ program: OWNER });
    expect([result, outcome]).toEqual([{ value: [[], [], "copied"] }, expect.anything()]);
  });
});

const FEW = { namespaces: 300, processes: 900 };

/** An import that takes all that it can get, in a process that it leaves behind, but what an execution of its own needs. */
const GREEDY = `
import ctypes, os, resource, signal, time

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
NAMESPACES = 0x10000000 | 0x00020000 | 0x08000000 | 0x20000000
NETWORK = 0x40000000  # one of the two is what the filter allows
FOR_EXECUTIONS = 3

def hold_namespace():
    reader, writer = os.pipe()
    for flags in (NAMESPACES, NAMESPACES | NETWORK):
        pid = LIBC.syscall(CLONE, flags | signal.SIGCHLD, 0, 0, 0, 0)
        if pid >= 0:
            break
    else:
        raise OSError(ctypes.get_errno(), "clone")
    if pid == 0:
        os.close(writer)
        os.read(reader, 1)
        os._exit(0)
    held = os.open(f"/proc/{pid}/ns/user", os.O_RDONLY)
    os.close(reader), os.close(writer)
    os.waitpid(pid, 0)
    return held

def hold_process():
    pid = os.fork()
    if pid == 0:
        time.sleep(60)
        os._exit(0)
    return pid

def take(hold):
    held = []
    try:
        while len(held) < 5000:
            held.append(hold())
    except OSError:
        pass
    return held

def take_all(said):
    _, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    resource.setrlimit(resource.RLIMIT_NPROC, (hard, hard))
    namespaces = take(hold_namespace)
    for held in namespaces[:FOR_EXECUTIONS]:
        os.close(held)
    processes = take(hold_process)
    for pid in processes[:FOR_EXECUTIONS]:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    os.write(said, b"%d %d" % (len(namespaces), len(processes)))

LIBC.prctl(36, 0, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: the zygote would adopt it, and so find it
listener, said = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        take_all(said)
        os.close(said)
        time.sleep(60)
    os._exit(0)
os.wait()
os.close(said)
TAKEN = [int(word) for word in os.read(listener, 100).split()]
os.close(listener)

def run():
    return TAKEN
`;

function isNotStarted(outcome: unknown): boolean {
  return Reflect.get(Object(outcome), "status") === "NOT_STARTED";
}

describe.runIf(process.getuid?.() === 0)("run by an ordinary user who may have little", () => {
  test("an import that takes all namespaces and processes that it can get keeps no other version from starting", async () => {
    const runner = await createLimitedRunner(FEW.namespaces, FEW.processes);
    try {
      let greedy = await runner.run({ program: GREEDY });
      // The kernel frees in its own time what the import leaves for this run.
      for (let tries = 1; tries < 5 && isNotStarted(greedy.outcome); tries += 1)
        greedy = await runner.run({ program: GREEDY });
      const modest = await runner.run({ program: "def run():\n    return 7\n" });
      expect([greedy, modest]).toMatchObject([
        { outcome: { status: "SUCCEEDED" } },
        { result: { value: 7 } },
      ]);
      const { value } = greedy.result as { readonly value: readonly [number, number] };
      expect(value[0]).toBeLessThan(FEW.namespaces / 2);
      expect(value[1]).toBeLessThan(FEW.processes / 3);
    } finally {
      await runner.close();
    }
  });
});
