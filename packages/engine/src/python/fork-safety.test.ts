import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { INTERPRETER, createFixture, waitFor } from "../testing/python-fixture.ts";
import type { Fixture } from "../testing/python-fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(() => fixture.close());

const RUN = "\ndef run(): ...\n";

describe("a run does not see what another left in something that was opened at import", () => {
  test("a file's position", async () => {
    const program = "FILE = open('/app/data.txt')\ndef run():\n    return FILE.readline()\n";
    const version = fixture.createVersion(program, {}, { "data.txt": "line 1\nline 2\n" });
    for (let round = 0; round < 2; round += 1)
      expect((await fixture.finish(version)).result).toEqual({ value: "line 1\n" });
  });

  test("a file's position, also of runs beside each other, which begin where the import left it", async () => {
    const program =
      "FILE = open('/app/data.txt', 'rb', buffering=0)\nHEAD = FILE.read(2)\ndef run():\n    return [FILE.read(2).decode() for _ in range(3)]\n";
    const version = fixture.createVersion(program, {}, { "data.txt": "h a b c d e f " });
    expect(await fixture.runtime.probe(version)).toMatchObject({ startMode: "fork" });
    const runs = Array.from({ length: 6 }, async () => (await fixture.finish(version)).result);
    for (const result of await Promise.all(runs)) expect(result).toEqual({ value: ["a ", "b ", "c "] });
  });

  test("memory of multiprocessing", async () => {
    const program = `
from multiprocessing import RawArray, RawValue
COUNT, TEXT = RawValue("i", 0), RawArray("c", 100)
def run(data):
    COUNT.value += 1
    seen, TEXT.value = TEXT.value.decode(), data["secret"].encode()
    return [COUNT.value, seen]
`;
    const version = fixture.createVersion(program);
    for (const secret of ["secret of one", "secret of two"])
      expect((await fixture.finish(version, { data: { secret } })).result).toEqual({ value: [1, ""] });
  });

  test("a socket", async () => {
    const program = `
import socket
OURS, THEIRS = socket.socketpair()
def run(data):
    THEIRS.setblocking(False)
    try:
        seen = THEIRS.recv(100).decode()
    except BlockingIOError:
        seen = ""
    OURS.send(data["secret"].encode())
    return seen
`;
    const version = fixture.createVersion(program);
    for (const secret of ["secret of one", "secret of two"])
      expect((await fixture.finish(version, { data: { secret } })).result).toEqual({ value: "" });
  });

  test("a lock that a killed run holds", async () => {
    const program = `
import multiprocessing, time
LOCK = multiprocessing.Lock()
def run(data):
    LOCK.acquire()
    print("locked")
    if data.get("hang"):
        time.sleep(60)
    LOCK.release()
    return 1
`;
    const version = fixture.createVersion(program);
    const killed = fixture.start(version, { data: { hang: true } });
    await waitFor("the run holds the lock", () => killed.lines.length > 0);
    killed.kill({ code: "CANCELLED", detail: "while it holds the lock" });
    await killed.ended;
    expect((await fixture.finish(version)).result).toEqual({ value: 1 });
  });

  test("a file that only a run's variables let the module open: the build could not know", async () => {
    const program =
      "import os\nFILE = open('/tmp/data', 'w+') if 'DATA' in os.environ else None\ndef run():\n    return FILE.write('secret') and FILE.tell()\n";
    const version = fixture.createVersion(program);
    expect(await fixture.runtime.probe(version)).toMatchObject({ ok: true, startMode: "fork" });
    const configured = { ...version, variables: { DATA: "1" } };
    for (let round = 0; round < 2; round += 1)
      expect((await fixture.finish(configured)).result).toEqual({ value: 6 });
  });
});

test("System V shared memory that a run makes is not there for the next", async () => {
  const program = `
import ctypes
def run():
    libc = ctypes.CDLL(None)
    return [libc.shmget(77, 100, 0) >= 0, libc.shmget(77, 100, 0o1600) >= 0]
`;
  const version = fixture.createVersion(program);
  for (let round = 0; round < 2; round += 1)
    expect((await fixture.finish(version)).result).toEqual({ value: [false, true] });
});

const SHARED: ReadonlyArray<readonly [what: string, program: string, reason: string]> = [
  [
    "a file that is written",
    "FILE = open('/tmp/notes', 'w')",
    "The file /tmp/notes is still open after the import; open it inside run() to get fast starts.",
  ],
  [
    "a file where others can write",
    "open('/tmp/a', 'w').close(); FILE = open('/tmp/a')",
    "The file /tmp/a is still open",
  ],
  [
    "a file that is locked",
    "import fcntl\nFILE = open('/app/src/program.py')\nfcntl.flock(FILE, fcntl.LOCK_EX)",
    "The file /app/src/program.py is",
  ],
  [
    "a writable place that is only named",
    "import os\nA = os.open('/tmp', os.O_PATH)",
    "The folder /tmp is still open",
  ],
  [
    "a working directory",
    "import os\nos.chdir('/tmp')",
    "The working directory was changed to /tmp at import; change it inside",
  ],
  [
    "a file with an odd name",
    "open('/tmp/a\\n\\x9bb', 'w'); FILE = open('/tmp/a\\n\\x9bb')",
    "The file /tmp/a??b is still",
  ],
  ["a folder", "import os\nFOLDER = os.open('/app', os.O_RDONLY)", "The folder /app is still open"],
  [
    "a file in the place of stdin",
    "import os\nos.dup2(os.open('/tmp/a', os.O_RDWR | os.O_CREAT), 0)",
    "The file /tmp/a is still open",
  ],
  ["a pipe", "import os\nPIPE = os.pipe()", "A pipe is still open after the import"],
  ["a socket", "import socket\nSOCKET = socket.socket()", "A socket is still open after the import"],
  ["an event loop", "import asyncio\nLOOP = asyncio.new_event_loop()", "is still open after the import"],
  // A version that has no user of its own can make none (`shared-user.test.ts`).
  ...(process.getuid?.() === 0
    ? ([
        [
          "an epoll object",
          "import select\nPOLL = select.epoll()",
          "An epoll object (an event loop) is still open",
        ],
      ] as const)
    : []),
  ["an eventfd", "import os\nEVENT = os.eventfd(0)", "An eventfd is still open"],
  ["a memfd", "import os\nMEMORY = os.memfd_create('x')", "The file /memfd:x (deleted) is still open"],
  [
    "shared memory",
    "import mmap\nMEMORY = mmap.mmap(-1, 100)",
    "Shared memory (/dev/zero (deleted)) was created",
  ],
  [
    "a lock of multiprocessing",
    "import multiprocessing\nLOCK = multiprocessing.Lock()",
    "A lock or semaphore of several processes (multiprocessing) was created at import; create it inside run()",
  ],
  [
    "System V shared memory",
    "import ctypes\nC = ctypes.CDLL(None)\nC.shmat.restype = ctypes.c_void_p\nassert C.shmat(C.shmget(0, 100, 0o1600), None, 0) != -1",
    "Shared memory (/SYSV00000000 (deleted)) was created at import",
  ],
  [
    "a thread",
    "import threading, time\nthreading.Thread(target=time.sleep, args=(99,), daemon=True).start()",
    "A thread was started",
  ],
  [
    "a native thread while OpenBLAS is loaded",
    "import _thread, mmap, os, time\nMAP = mmap.mmap(os.open('/app/libopenblas.so', 0), 0, prot=mmap.PROT_READ)\n_thread.start_new_thread(time.sleep, (99,))",
    "A native thread was started at import and still runs; start it inside run() to get fast starts.",
  ],
  [
    "a process",
    "import subprocess\nP = subprocess.Popen(['sleep', '99'])",
    "A process was started at import",
  ],
  [
    "a file that a hook opens at the first fork",
    "import os, tempfile\nFILES = []\nos.register_at_fork(before=lambda: FILES.append(tempfile.TemporaryFile()))",
    "(deleted) is still open after the import",
  ],
  [
    "a thread of each fork, which would keep a run from having a folder of its own",
    "import os, threading, time\nos.register_at_fork(after_in_child=lambda: threading.Thread(target=time.sleep, args=(99,), daemon=True).start())",
    "A thread is started, or the process ended, at each fork; do it inside run()",
  ],
  [
    "a module that a fork breaks",
    "import sys\nsys.modules['grpc'] = sys",
    "The module grpc does not survive a fork",
  ],
];

test.each(SHARED)(
  "%s that the module opened makes each run a fresh interpreter; the build says why",
  async (_, program, reason) => {
    const version = fixture.createVersion(program + RUN, {}, { "libopenblas.so": "no library" });
    expect(await fixture.runtime.probe(version)).toMatchObject({
      ok: true,
      startMode: "spawn",
      startModeReason: expect.stringContaining(reason),
    });
  },
);

test.each([
  ["devices without state", "import os\nA = os.open('/dev/null', os.O_RDWR)\nB = open('/dev/urandom', 'rb')"],
  ["a path that is only named", "import os\nA = os.open('/app', os.O_PATH)"],
  ["a file of the project, opened for reading", "FILE = open('/app/src/program.py')"],
  ["another folder of the project as working directory", "import os\nos.chdir('/app/src')"],
  ["a file that was closed", "open('/app/src/program.py').read()"],
  [
    "a file that nothing refers to but itself",
    "class A: pass\na = A()\na.a, a.file = a, open('/app/src/program.py')\ndel a",
  ],
  [
    "a file that is mapped for reading",
    "import mmap\nwith open('/app/src/program.py') as file:\n    A = mmap.mmap(file.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_READ)",
  ],
  ["a thread that has ended", "import threading\nT = threading.Thread(target=print)\nT.start()\nT.join()"],
  ["a process that has ended", "import subprocess\nsubprocess.run(['true'], check=True)"],
])("%s at import: forking stays safe", async (_, program) => {
  expect(await fixture.runtime.probe(fixture.createVersion(program + RUN))).toMatchObject({
    ok: true,
    startMode: "fork",
    startModeReason: null,
  });
});

test("a version that asks for fresh interpreters gets no advice", async () => {
  const version = fixture.createVersion(`import os\nPIPE = os.pipe()${RUN}`, { startMode: "spawn" });
  expect(await fixture.runtime.probe(version)).toMatchObject({ startMode: "spawn", startModeReason: null });
});

test("OpenBLAS is loaded with one thread and has those of the version in a run", async () => {
  const program =
    "import os\nAT_IMPORT = os.environ['OPENBLAS_NUM_THREADS']\ndef run():\n    return [AT_IMPORT, os.environ['OPENBLAS_NUM_THREADS']]\n";
  const version = fixture.createVersion(program, { resources: { cpu: 2, memory: 1 } });
  expect((await fixture.finish(version)).result).toEqual({ value: ["01", "2"] });
});

test("the number of threads that the module chooses for OpenBLAS holds in the run too", async () => {
  const program =
    "import os\nos.environ['OPENBLAS_NUM_THREADS'] = '1'\ndef run():\n    return os.environ['OPENBLAS_NUM_THREADS']\n";
  const version = fixture.createVersion(program, { resources: { cpu: 2, memory: 1 } });
  expect((await fixture.finish(version)).result).toEqual({ value: "1" });
});

test("what a start-up hook of the environment opened is found as well", async () => {
  const hook = "import sys, tempfile; sys.hooked = tempfile.TemporaryFile()\n";
  const minors = [11, 12, 13, 14, 15];
  const hooks = minors.map((minor) => [`venv/lib/python3.${minor}/site-packages/hook.pth`, hook]);
  const files = { "venv/pyvenv.cfg": "home = /usr/bin\n", ...Object.fromEntries(hooks) };
  const program = fixture.createVersion(`import sys\nassert sys.hooked${RUN}`, {}, files);
  const environment = join(program.projectDirectory, "venv");
  const interpreter = join(environment, "bin/python");
  mkdirSync(join(environment, "bin"));
  symlinkSync(INTERPRETER, interpreter);
  const version = { ...program, interpreter, readablePaths: [environment] };
  expect(await fixture.runtime.probe(version)).toMatchObject({
    startMode: "spawn",
    startModeReason: expect.stringMatching(/^The file .* is still open/u),
  });
});

describe("a module is forked whatever it did at import to the signal that a child has ended", () => {
  test.each([
    ["ignored", "signal.signal(signal.SIGCHLD, signal.SIG_IGN)"],
    ["handled", "signal.signal(signal.SIGCHLD, lambda *_: os.waitpid(-1, os.WNOHANG))"],
    ["blocked", "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])"],
  ])("%s", async (_, setting) => {
    const version = fixture.createVersion(`
import os, signal, subprocess
${setting}
def run():
    return [subprocess.run(["false"]).returncode, [*signal.pthread_sigmask(signal.SIG_BLOCK, [])]]
`);
    expect(await fixture.runtime.probe(version)).toMatchObject({ ok: true, startMode: "fork" });
    expect((await fixture.finish(version)).result).toEqual({ value: [1, []] });
  });
});
