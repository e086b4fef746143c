import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFixture } from "../testing/python-fixture.ts";
import type { Fixture } from "../testing/python-fixture.ts";

let fixture: Fixture;
let version: ReturnType<Fixture["createVersion"]>;
beforeAll(async () => {
  fixture = await createFixture();
  version = fixture.createVersion(
    "import os, sys, socket, urllib.request, ctypes\ndef run(params):\n    exec(params['code'], {**globals()})\n",
  );
});
afterAll(() => fixture.close());

async function runCode(code: string): Promise<ReturnType<Fixture["finish"]>> {
  return fixture.finish(version, { params: { code } });
}

test.each([
  ["raise ValueError('bad input')", "ValueError: bad input"],
  ["raise KeyError", "KeyError"],
  ["1 / 0", "ZeroDivisionError: division by zero"],
  ["sys.exit(3)", "SystemExit: 3"],
  ["sys.exit(0)", "SystemExit: 0"],
  ["sys.exit()", "SystemExit"],
  ["raise KeyboardInterrupt", "KeyboardInterrupt"],
  ["class Odd(Exception):\n    def __str__(self):\n        raise ValueError\nraise Odd", "Odd"],
  ["def f():\n    f()\nf()", "RecursionError: maximum recursion depth exceeded"],
  ["os._exit(1)", "The process ended with exit code 1 before run returned."],
  ["os._exit(0)", "The process ended with exit code 0 before run returned."],
  [
    "ctypes.string_at(0)",
    "The process was ended by SIGSEGV (native code crashed or called abort) before run returned.",
  ],
  [
    "os.abort()",
    "The process was ended by SIGSEGV (native code crashed or called abort) before run returned.",
  ],
])("%s fails this run only, and says how", async (code, detail) => {
  expect((await runCode(code)).outcome).toMatchObject({ status: "FAILED", code: "EXECUTION_ERROR", detail });
  expect((await runCode("pass")).result).toEqual({});
});

test("a run is pid 1: a signal that it does not catch has no effect on it, whoever of its processes sends it", async () => {
  const code =
    "import signal, subprocess\nfor number in (9, 15, signal.SIGALRM):\n    os.kill(os.getpid(), number)\nsubprocess.run(['kill', '-9', '1'])";
  expect((await runCode(code)).outcome).toMatchObject({ status: "SUCCEEDED" });
});

test("the traceback goes to the log as errors, with the user's frames only", async () => {
  const program = "def inner():\n    raise ValueError('bad')\ndef run():\n    print('before')\n    inner()\n";
  const { lines } = await fixture.finish(fixture.createVersion(program));
  // Two pipes: which of them is read first is not said.
  expect(lines.filter(({ severity }) => severity === "INFO").map(({ message }) => message)).toEqual([
    "before",
  ]);
  const errors = lines.filter(({ severity }) => severity !== "INFO");
  expect(new Set(errors.map((line) => line.severity))).toEqual(new Set(["ERROR"]));
  const text = errors.map((line) => line.message).join("\n");
  expect(text).toContain('File "/app/src/program.py", line 2, in inner');
  expect(text).not.toContain("service_runner");
  expect(text.endsWith("ValueError: bad")).toBe(true);
});

test("memory above the limit is OUT_OF_MEMORY, and the next run has its own", async () => {
  const small = fixture.createVersion("def run(params):\n    return len(bytearray(params['size']))", {
    resources: { cpu: 1, memory: 0.25 },
  });
  const { outcome } = await fixture.finish(small, { params: { size: 500_000_000 } });
  expect(outcome).toMatchObject({ status: "FAILED", code: "OUT_OF_MEMORY" });
  expect("detail" in outcome ? outcome.detail : "").toContain("0.25 GB");
  expect((await fixture.finish(small, { params: { size: 150_000_000 } })).result).toEqual({
    value: 150_000_000,
  });
});

async function findClosedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

test.each([
  ["a refused connection", (port: number) => `socket.create_connection(('127.0.0.1', ${port}))`, "127.0.0.1"],
  ["urllib's error", (port: number) => `urllib.request.urlopen('http://127.0.0.1:${port}/')`, "127.0.0.1"],
  ["name resolution", () => "socket.create_connection(('backend.invalid', 80))", "backend.invalid"],
  [
    "an error raised from it",
    (port: number) =>
      `try:\n    socket.create_connection(('127.0.0.1', ${port}))\nexcept OSError as error:\n    raise RuntimeError('no backend') from error`,
    "127.0.0.1",
  ],
  [
    "a client library's error",
    () =>
      "class ConnectTimeout(Exception):\n    pass\nConnectTimeout.__module__ = 'httpx'\nerror = ConnectTimeout('timed out')\nerror.request = type('Request', (), {'url': 'https://api.example.org:8443/v1'})\nraise error",
    "api.example.org",
  ],
])("%s is CONNECTION_ERROR and names the host", async (_, write, host) => {
  const { outcome } = await runCode(write(await findClosedPort()));
  expect(outcome).toMatchObject({ status: "FAILED", code: "CONNECTION_ERROR" });
  expect("detail" in outcome ? outcome.detail : "").toContain(`Could not connect to ${host}: `);
});

test("a broken pipe, a plain timeout and a suppressed cause are errors of the code itself", async () => {
  for (const code of [
    "raise BrokenPipeError(32, 'pipe')",
    "raise TimeoutError('own limit')",
    "try:\n    raise ConnectionRefusedError\nexcept OSError:\n    raise ValueError('bad') from None",
  ]) {
    expect((await runCode(code)).outcome).toMatchObject({ code: "EXECUTION_ERROR" });
  }
});

const FIND_CONTROL = `
import stat
def sockets():
    for fd in range(3, 50):
        try:
            if stat.S_ISSOCK(os.fstat(fd).st_mode):
                yield fd
        except OSError:
            pass
`;

test.each([
  [
    "garbage",
    "for fd in sockets(): os.write(fd, b'garbage' * 1000)",
    "The code wrote to the runtime's own connection instead of returning from run.",
  ],
  [
    "a forged failure",
    "import struct\nfor fd in sockets(): os.write(fd, struct.pack('>IB', 4, 18) + b'null')",
    "The code wrote to the runtime's own connection instead of returning from run.",
  ],
  [
    "a forged huge result",
    "import struct\nfor fd in sockets(): os.write(fd, struct.pack('>IB', 1 << 31, 17))",
    "The result has 2147483648 bytes of JSON text, the limit is 16777216 bytes.",
  ],
  [
    "closing it",
    "import time\nfor fd in list(sockets()): os.close(fd)\ntime.sleep(60)",
    "The code closed the runtime's own connection before run returned.",
  ],
])("%s on the control connection ends the run cleanly", async (_, code, detail) => {
  const { outcome } = await runCode(`${FIND_CONTROL}\n${code}`);
  expect(outcome).toMatchObject({ status: "FAILED", detail });
  expect((await runCode("pass")).result).toEqual({});
});

test("user code that forks and returns twice answers once, as itself", async () => {
  const program =
    "import os\ndef run():\n    pid = os.fork()\n    if pid:\n        os.waitpid(pid, 0)\n    return 'parent' if pid else 'child'";
  expect((await fixture.finish(fixture.createVersion(program))).result).toEqual({ value: "parent" });
});
