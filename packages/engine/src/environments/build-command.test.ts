import { execFileSync } from "node:child_process";
import { chmod } from "node:fs/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findExecutables } from "../host/find-executables.ts";
import { TrustedExecutable } from "../host/trusted-executable.ts";
import { runBuildCommand } from "./build-command.ts";
import type { BuildContext } from "./build-command.ts";
import { DEFAULT_BUILD_LIMITS } from "./build-limits.ts";
import { createBuildSandbox } from "./build-sandbox.ts";
import { findInterpreter } from "./interpreter.ts";
import { writeAccounts } from "../python/sandbox/system-view.ts";
import { IS_FULL_LENGTH } from "../testing/full-length.ts";
import { createWorkspace } from "../testing/project-fixtures.ts";
import type { Workspace } from "../testing/project-fixtures.ts";

const STRANGER = { uid: 65534, gid: 65534 };
/** More than the sandbox takes to start. */
const START_MS = 20;
const ATTEMPTS = IS_FULL_LENGTH ? 60 : 20;

let workspace: Workspace;
beforeEach(async () => {
  workspace = await createWorkspace();
  await chmod(workspace.path, 0o777);
  writeAccounts(workspace.path, STRANGER.uid, STRANGER.gid);
});
afterEach(() => workspace.close());

function listProcesses(argument: string): readonly string[] {
  const lines = execFileSync("ps", ["-eo", "args"], { encoding: "utf8" }).split("\n");
  return lines.filter((line) => line.endsWith(argument));
}

async function createContext(signal: AbortSignal): Promise<BuildContext> {
  const [bubblewrap] = await findExecutables("bwrap", process.env["PATH"] ?? "");
  if (bubblewrap === undefined) throw new Error("the tests need bubblewrap");
  return {
    directory: workspace.path,
    variables: {},
    user: process.getuid?.() === 0 ? STRANGER : null,
    wrap: createBuildSandbox({
      bubblewrap,
      interpreter: await findInterpreter({ searchPath: "/usr/bin" }),
      accounts: workspace.path,
      readable: [],
      writable: [workspace.path],
      network: false,
      epoll: "refused",
      limits: DEFAULT_BUILD_LIMITS,
    }),
    group: null,
    signal,
    onLine: () => undefined,
  };
}

test("a build that is given up at any moment of its sandbox's start leaves no process", async () => {
  const mark = `34${process.pid}.5`;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const controller = new AbortController();
    const context = await createContext(controller.signal);
    const ended = runBuildCommand({ executable: "/bin/sleep", args: [mark] }, context);
    // From before its first step to after its last one.
    setTimeout(() => controller.abort(), (attempt / ATTEMPTS) * START_MS);
    expect(await ended).toEqual({ code: null });
  }
  await expect.poll(() => listProcesses(mark)).toEqual([]);
});

test("a build whose process left its group and holds its pipes ends when it is given up", async () => {
  const controller = new AbortController();
  const mark = `35${process.pid}.5`;
  const context: BuildContext = {
    ...(await createContext(controller.signal)),
    wrap: ({ executable, args }) => ({
      executable: TrustedExecutable.vouchFor(executable, "no sandbox"),
      args,
      filter: null,
    }),
    onLine: () => controller.abort(),
  };
  const script = `setsid sleep ${mark} & echo started; wait`;
  expect(await runBuildCommand({ executable: "/bin/sh", args: ["-c", script] }, context)).toEqual({
    code: null,
  });
  await expect.poll(() => listProcesses(mark)).toEqual([]);
});

const CALLS = `
import ctypes, errno, os, select, socket
libc = ctypes.CDLL(None, use_errno=True)
def attempt(function):
    try:
        result = function()
        return "done" if not isinstance(result, int) or result >= 0 else errno.errorcode[ctypes.get_errno()]
    except OSError as error:
        return errno.errorcode[error.errno]
print("ptrace", attempt(lambda: libc.ptrace(0, 0, None, None)))
print("keyctl", attempt(lambda: libc.syscall(250 if os.uname().machine == "x86_64" else 219, 0, -3, 0)))
print("unshare", attempt(lambda: libc.unshare(0x400)))
print("raw", attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)))
print("crypto", attempt(lambda: socket.socket(38, socket.SOCK_SEQPACKET)))
print("epoll", attempt(select.epoll))
print("unix", attempt(socket.socketpair))
print("first free descriptor", os.open(os.devnull, os.O_RDONLY))
`;

test("a build cannot reach what the kernel keeps for the system", async () => {
  const lines: string[] = [];
  const context: BuildContext = {
    ...(await createContext(new AbortController().signal)),
    onLine: (line) => void lines.push(line),
  };
  const command = { executable: "/usr/bin/python3", args: ["-I", "-c", CALLS] };
  expect(await runBuildCommand(command, context)).toEqual({ code: 0 });
  expect(lines).toEqual([
    "ptrace EPERM",
    "keyctl EPERM",
    "unshare EPERM",
    "raw EPROTONOSUPPORT",
    "crypto EAFNOSUPPORT",
    "epoll ENOSYS",
    "unix done",
    "first free descriptor 3",
  ]);
});

/** Stops bubblewrap's first process in the sandbox, has it take back that it dies with its parent (prctl), and lets it go on. */
const OUTLIVE = `
import ctypes, os, sys, time
libc = ctypes.CDLL(None)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
ATTACH, GETREGS, SETREGS, STEP, DETACH = 16, 12, 13, 9, 17
class Registers(ctypes.Structure):
    _fields_ = [(name, ctypes.c_ulonglong) for name in "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss fs_base gs_base ds es fs gs".split()]
def attach():
    if libc.ptrace(ATTACH, 1, None, None) != 0: return
    os.waitpid(1, 0x40000000)
    then = Registers()
    libc.ptrace(GETREGS, 1, None, ctypes.byref(then))
    now = Registers.from_buffer_copy(then)
    now.rax, now.rdi, now.rsi, now.rip, now.orig_rax = 157, 1, 0, now.rip - 2, 2**64 - 1
    libc.ptrace(SETREGS, 1, None, ctypes.byref(now))
    libc.ptrace(STEP, 1, None, None)
    os.waitpid(1, 0x40000000)
    then.rax, then.rip, then.orig_rax = 61, then.rip - 2, 2**64 - 1
    libc.ptrace(SETREGS, 1, None, ctypes.byref(then))
    libc.ptrace(DETACH, 1, None, None)
read, write = os.pipe()
if os.fork() == 0:
    os.setsid()
    attach()
    os.write(write, b"x")
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2): os.dup2(null, number)
    time.sleep(120)
os.read(read, 1)
sys.stdout.flush()
os._exit(0)
`;

// The registers and the numbers of system calls are those of this processor.
test.runIf(process.arch === "x64")(
  "no process of a sandbox outlives its command, even one that meddles with the sandbox's first process",
  async () => {
    const mark = `36${process.pid}.5`;
    const context = await createContext(new AbortController().signal);
    await runBuildCommand({ executable: "/usr/bin/python3", args: ["-I", "-c", OUTLIVE, mark] }, context);
    expect(listProcesses(mark)).toEqual([]);
  },
);
