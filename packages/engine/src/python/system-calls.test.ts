import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createAttackedFixture, FILTERED_LEVELS } from "../testing/attack-levels.ts";
import { createFixture, waitFor } from "../testing/python-fixture.ts";
import type { Fixture } from "../testing/python-fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(() => fixture.close());

/** Makes system calls by number, as hostile code would; the numbers are of x86_64 and aarch64. */
const CALLS = `
import ctypes, errno, fcntl, mmap, os, pty, socket, struct
libc = ctypes.CDLL(None, use_errno=True)
IS_X86 = os.uname().machine == "x86_64"
def call(x86_64, aarch64, *args):
    result = libc.syscall(x86_64 if IS_X86 else aarch64, *map(ctypes.c_long, args))
    return "done" if result >= 0 else errno.errorcode[ctypes.get_errno()]
def attempt(function, *args):
    try:
        function(*args)
        return "done"
    except OSError as error:
        return errno.errorcode[error.errno]
def make_namespaces(flags):
    pid = libc.syscall(56 if IS_X86 else 220, ctypes.c_long(flags | 17), None, None, None, None)
    if pid == 0:
        os._exit(0)
    if pid > 0:
        os.waitpid(pid, 0)
    return "done" if pid > 0 else errno.errorcode[ctypes.get_errno()]
def type_into_terminal(request, value):
    opened = []
    try:
        opened += pty.openpty()
        fcntl.ioctl(opened[1], request, value)
        return "done"
    except OSError as error:
        return errno.errorcode.get(error.errno, "no terminal")
    finally:
        for descriptor in opened:
            os.close(descriptor)
def call_32_bit():
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(bytes([0x53, 0xB8, 20, 0, 0, 0, 0xCD, 0x80, 0x5B, 0xC3]))  # getpid by int 0x80
    function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
    result = function()
    return "done" if result >= 0 else errno.errorcode[-result]
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]
ALLOW = ctypes.create_string_buffer(struct.pack("=HBBI", 6, 0, 0, 0x7fff0000), 8)
ALLOWING = Program(1, ctypes.addressof(ALLOW))
def filter_socket(option):
    with socket.socketpair()[0] as end:
        end.setsockopt(socket.SOL_SOCKET, option, bytes(ALLOWING))
NOWHERE = ctypes.create_string_buffer(4096)
AT = ctypes.addressof(NOWHERE)
USER, NS, UTS, IPC, PID, NET, CGROUP, TIME = 1 << 28, 1 << 17, 1 << 26, 1 << 27, 1 << 29, 1 << 30, 1 << 25, 1 << 7
ATTACKS = {
    "ptrace": lambda: call(101, 117, 0, 0, 0, 0),
    "process_vm_readv": lambda: call(310, 270, os.getpid(), AT, 0, AT, 0, 0),
    "process_vm_writev": lambda: call(311, 271, os.getpid(), AT, 0, AT, 0, 0),
    "pidfd_getfd": lambda: call(438, 438, os.pidfd_open(os.getpid()), 1, 0),
    "kcmp": lambda: call(312, 272, os.getpid(), os.getpid(), 0, 0, 1),
    "unshare user": lambda: call(272, 97, USER),
    "unshare net": lambda: call(272, 97, USER | NET),
    "unshare files": lambda: call(272, 97, 0x400),
    "clone user": lambda: make_namespaces(USER),
    "clone user and net": lambda: make_namespaces(USER | NET),
    "clone uts": lambda: make_namespaces(UTS),
    "setns": lambda: call(308, 268, -1, USER),
    "chroot": lambda: call(161, 51, AT),
    "pivot_root": lambda: call(155, 41, AT, AT),
    "umount": lambda: call(166, 39, AT, 0),
    "remount": lambda: call(165, 40, AT, AT, AT, 0x1020, 0),
    "open_tree": lambda: call(428, 428, -100, AT, 1),
    "fsopen": lambda: call(430, 430, AT, 0),
    "fsmount": lambda: call(432, 432, 0, 0, 0),
    "move_mount": lambda: call(429, 429, 0, AT, 0, AT, 0),
    "mount_setattr": lambda: call(442, 442, 0, AT, 0, AT, 32),
    "open_by_handle_at": lambda: call(304, 265, 0, AT, 0),
    "name_to_handle_at": lambda: call(303, 264, -100, AT, AT, AT, 0),
    "bpf": lambda: call(321, 280, 0, AT, 48),
    "perf_event_open": lambda: call(298, 241, AT, 0, -1, -1, 0),
    "userfaultfd": lambda: call(323, 282, 1),
    "keyctl": lambda: call(250, 219, 0, -3, 0),
    "add_key": lambda: call(248, 217, AT, AT, AT, 0, -3),
    "request_key": lambda: call(249, 218, AT, AT, 0, -3),
    "vmsplice": lambda: call(278, 75, os.pipe()[1], AT, 0, 0),
    "move_pages": lambda: call(279, 239, 0, 0, 0, 0, 0, 0),
    "personality without random layout": lambda: call(135, 92, 0x0040000),
    "quotactl": lambda: call(179, 60, 0, 0, 0, 0),
    "syslog": lambda: call(103, 116, 10, 0, 0),
    "modify_ldt": lambda: call(154, 117, 0, AT, 16),
    "TIOCSTI": lambda: type_into_terminal(0x5412, b"x"),
    "TIOCSETD": lambda: type_into_terminal(0x5423, struct.pack("i", 0)),
    "clone3": lambda: call(435, 435, AT, 0),
    "io_uring_setup": lambda: call(425, 425, 1, AT),
    "io_setup": lambda: call(206, 0, 1, AT),
    "memfd_secret": lambda: call(447, 447, 0),
    "cachestat": lambda: call(451, 451, 0, AT, AT, 0),
    "a call newer than the rules": lambda: call(463, 463, -100, AT, 0, AT, AT, 16),
    "x32": lambda: call(0x40000000 + 39, 0x40000000, 0),
    "32 bits": lambda: call_32_bit() if IS_X86 else "ENOSYS",
    "raw socket": lambda: attempt(socket.socket, socket.AF_INET, socket.SOCK_RAW, 1),
    "packets": lambda: attempt(socket.socket, 17, socket.SOCK_RAW, 3),
    "SCTP": lambda: attempt(socket.socket, socket.AF_INET, socket.SOCK_STREAM, 132),
    "the hypervisor": lambda: attempt(socket.socket, 40, socket.SOCK_STREAM, 0),
    "kernel crypto": lambda: attempt(socket.socket, 38, socket.SOCK_SEQPACKET, 0),
    "netfilter": lambda: attempt(socket.socket, 16, socket.SOCK_RAW, 12),
    "a filter of a socket": lambda: attempt(filter_socket, 26),
    "a filter of a group of sockets": lambda: attempt(filter_socket, 51),
}
ONLY_OF_RUNS = {
    "namespaces of a run": lambda: make_namespaces(USER | NS | IPC | PID),
    "mount": lambda: call(165, 40, AT, AT, AT, 6, 0),
    "a filter of its own": lambda: call(157, 167, 22, 2, ctypes.addressof(ALLOWING), 0, 0),
    "a filter of its own by seccomp": lambda: call(317, 277, 1, 0, ctypes.addressof(ALLOWING)),
}
def attack(attacks):
    return {name: attack() for name, attack in attacks.items()}
`;

const REFUSED = {
  ...listErrors(
    "EPERM",
    "ptrace, process_vm_readv, process_vm_writev, pidfd_getfd, kcmp, unshare user, unshare net, unshare files, clone user, clone user and net, clone uts, setns, chroot, pivot_root, umount, remount, open_tree, fsopen, fsmount, move_mount, mount_setattr, open_by_handle_at, name_to_handle_at, bpf, perf_event_open, userfaultfd, keyctl, add_key, request_key, vmsplice, move_pages, personality without random layout, quotactl, syslog, modify_ldt, TIOCSTI, TIOCSETD, a filter of a socket, a filter of a group of sockets",
  ),
  ...listErrors(
    "ENOSYS",
    "clone3, io_uring_setup, io_setup, memfd_secret, cachestat, a call newer than the rules, x32, 32 bits",
  ),
  ...listErrors("EPROTONOSUPPORT", "raw socket, SCTP"),
  ...listErrors("EAFNOSUPPORT", "packets, the hypervisor, kernel crypto, netfilter"),
};

function listErrors(error: string, names: string): Record<string, string> {
  return Object.fromEntries(names.split(", ").map((name) => [name, error]));
}

/** At level C there are no terminals, and no network. */
const ALSO_AT_C = {
  ...listErrors("no terminal", "TIOCSTI, TIOCSETD"),
  ...listErrors("EAFNOSUPPORT", "raw socket, SCTP"),
};

describe.each(FILTERED_LEVELS)("at level %s", (level) => {
  let attacked: Fixture;
  beforeAll(async () => {
    attacked = await createAttackedFixture(level);
  });
  afterAll(() => attacked.close());
  const refused = level === "C" ? { ...REFUSED, ...ALSO_AT_C } : REFUSED;

  test.each(["auto", "spawn"] as const)(
    "a run cannot reach what the kernel keeps for the system (%s)",
    async (startMode) => {
      const program = `${CALLS}
def run():
    return attack({**ATTACKS, **ONLY_OF_RUNS})
`;
      const { result } = await attacked.finish(attacked.createVersion(program, { startMode }));
      const ofRuns = {
        ...listErrors("EPERM", "namespaces of a run, mount, a filter of its own"),
        ...listErrors("ENOSYS", "a filter of its own by seccomp"),
      };
      expect(result).toEqual({ ...refused, ...ofRuns });
    },
  );

  test("code at import cannot either", async () => {
    const program = `${CALLS}
FOUND = attack(ATTACKS)
def run():
    return FOUND
`;
    const { result } = await attacked.finish(attacked.createVersion(program));
    expect(result).toEqual(refused);
  });

  test("what a run starts is restricted as it is itself, and no thread is without", async () => {
    const program = `${CALLS}
import subprocess, sys, threading
STARTED = []
def run():
    thread = threading.Thread(target=lambda: STARTED.append(call(272, 97, USER)))
    thread.start()
    thread.join()
    code = "import ctypes; ctypes.CDLL(None).unshare(1 << 28) and print('refused')"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    return [STARTED, printed, open("/proc/thread-self/status").read().count("Seccomp:\\t2")]
`;
    const { result } = await attacked.finish(attacked.createVersion(program));
    expect(result).toEqual({ value: [["EPERM"], "refused\n", 1] });
  });

  test("a run writes below its own folders only, and neither moves nor creates anything else", async () => {
    const program = `
import os, stat
from ctypes import CDLL
def list_roots():
    home = os.environ["TMPDIR"]
    if home == "/tmp":
        return ["/"]
    return [home, os.path.dirname(home), "/", "/tmp", "/var/tmp", "/dev", "/dev/shm", "/etc", "/usr", os.getcwd()]
def walk():
    for root in list_roots():
        yield root, True
        yield from walk_below(root)
def walk_below(root):
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if os.path.join(folder, name) not in ("/proc", "/sys")]
        yield folder, True
        yield from ((os.path.join(folder, name), False) for name in names)
def is_open(path, is_folder):
    try:
        if is_folder:
            os.rmdir(os.mkdir(path + "/new") or path + "/new")
        elif stat.S_ISREG(os.lstat(path).st_mode):
            os.close(os.open(path, os.O_WRONLY))
        else:
            return False
        return True
    except OSError:
        return False
def run():
    found = sorted({path for path, is_folder in walk() if is_open(path, is_folder)})
    return [found, is_open("/proc/self/comm", False), CDLL(None).prctl(15, b"name"), open("/proc/self/comm").read()]
`;
    const { result } = await attacked.finish(attacked.createVersion(program));
    const [folders] = (result as { readonly value: readonly [readonly string[]] }).value;
    const home = level === "C" ? folders[0] : "/tmp";
    const own = level === "C" ? [] : ["/dev/shm"];
    expect(result).toEqual({ value: [[...own, home, `${home}/output`], false, 0, "name\n"] });
  });
});

test("a run opens no terminal of another, and its own work", async () => {
  const program = `
import os, pty, time
def run(params):
    if params["role"] == "victim":
        controller, terminal = pty.openpty()
        os.write(controller, b"typed\\n")
        print("typed", flush=True)
        time.sleep(60)
    terminals = []
    for name in filter(str.isdigit, os.listdir("/dev/pts")):
        try:
            terminals.append(os.read(os.open("/dev/pts/" + name, os.O_RDWR | os.O_NONBLOCK | os.O_NOCTTY), 9).decode())
        except OSError:
            pass
    controller, terminal = pty.openpty()
    os.write(terminal, b"own")
    return [terminals, os.read(controller, 3).decode(), os.ttyname(terminal).startswith("/dev/pts/")]
`;
  const version = fixture.createVersion(program);
  const victim = fixture.start(version, { params: { role: "victim" } });
  await expect.poll(() => victim.lines.map(({ message }) => message)).toEqual(["typed"]);
  const { result } = await fixture.finish(version, { params: { role: "thief" } });
  victim.kill({ code: "CANCELLED", detail: "The test is over." });
  await victim.ended;
  expect(result).toEqual({ value: [[], "own", true] });
});

// The names of such sockets belong to a network namespace, not to a file system.
test("a run connects to no socket without a path but those of its own processes", async () => {
  const program = `
import errno, os, socket, time
def dial(name):
    with socket.socket(socket.AF_UNIX) as end:
        try:
            end.connect(name)
            return "done"
        except OSError as error:
            return errno.errorcode[error.errno]
def run(params):
    with socket.socket(socket.AF_UNIX) as door:
        door.bind("\\0" + params["own"])
        door.listen()
        print(os.readlink("/proc/self/ns/net"), flush=True)
        while params["waits"]:
            time.sleep(1)
        return [dial("\\0sibling"), dial("\\0absent"), dial("\\0own")]
`;
  const version = fixture.createVersion(program);
  const sibling = fixture.start(version, { params: { own: "sibling", waits: true } });
  await waitFor("the sibling listens", () => sibling.lines.length > 0);
  const { result, lines } = await fixture.finish(version, { params: { own: "own", waits: false } });
  sibling.kill({ code: "CANCELLED", detail: "The test is over." });
  await sibling.ended;
  // Where the version has no network, each run has a namespace of its own, in which the sibling's name does not exist.
  const isShared = sibling.lines[0]?.message === lines[0]?.message;
  expect(result).toEqual({ value: [isShared ? "EPERM" : "ECONNREFUSED", "ECONNREFUSED", "done"] });
});

test("what honest code needs still works", async () => {
  const program = `
import asyncio, ctypes, mmap, multiprocessing, os, socket, sqlite3, ssl, subprocess, sys, tempfile, threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import shared_memory
def double(number):
    return 2 * number
def use_pool(method):
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        return list(pool.map(double, [1, 2]))
async def use_asyncio():
    process = await asyncio.create_subprocess_exec("/bin/echo", "child", stdout=asyncio.subprocess.PIPE)
    printed, _ = await process.communicate()
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    address = server.sockets[0].getsockname()
    reader, writer = await asyncio.open_connection(*address)
    received = await reader.read()
    writer.close()
    server.close()
    return [printed.decode(), received.decode(), await asyncio.to_thread(double, 4)]
def use_files():
    with tempfile.TemporaryDirectory() as folder, sqlite3.connect(folder + "/db") as database:
        database.execute("pragma journal_mode = wal")
        database.execute("create table t as select 1 as a")
        os.mkdir(folder + "/sub")
        os.rename(folder + "/db", folder + "/sub/db")
        os.mkfifo(folder + "/fifo")
        os.sync()
        return database.execute("select a from t").fetchall()[0][0]
def use_memory():
    with mmap.mmap(-1, 4096) as private, open(os.memfd_create("file"), "wb") as file:
        file.write(b"x" * 4096)
        private[:3] = b"abc"
        shared = shared_memory.SharedMemory(create=True, size=10)
        shared.buf[:3] = private[:3]
        try:
            return bytes(shared.buf[:3]).decode()
        finally:
            shared.close()
            shared.unlink()
def run():
    with ThreadPoolExecutor(4) as pool:
        threads = list(pool.map(double, range(3)))
    stopped = subprocess.Popen(["/bin/sleep", "60"])
    stopped.kill()
    lock = multiprocessing.Lock()
    with lock:
        pass
    return {
        "threads": threads,
        "pools": [use_pool(method) for method in ("fork", "spawn", "forkserver")],
        "asyncio": asyncio.run(use_asyncio()),
        "files": use_files(),
        "memory": use_memory(),
        "shell": subprocess.run("echo a | tr a b", shell=True, capture_output=True, text=True).stdout,
        "killed": stopped.wait(),
        "tls": ssl.create_default_context().verify_mode == ssl.CERT_REQUIRED,
        "addresses": [family for _, family in sorted((info[4][0], int(info[0])) for info in socket.getaddrinfo("127.0.0.1", 80, type=1))],
        "null": open("/dev/null", "w").write("x"),
    }
`;
  const { result } = await fixture.finish(fixture.createVersion(program, { network: "none" }));
  expect(result).toEqual({
    threads: [0, 2, 4],
    pools: [
      [2, 4],
      [2, 4],
      [2, 4],
    ],
    asyncio: ["child\n", "", 8],
    files: 1,
    memory: "abc",
    shell: "b\n",
    killed: -9,
    tls: true,
    addresses: [2],
    null: 1,
  });
});
