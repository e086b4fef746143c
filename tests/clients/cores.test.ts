/** The tests of each core, by the runner of its language. */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { TEST_CERTIFICATES, TEST_KEY } from "@platform/engine/testing/tls-certificates";
import { expect, test } from "vitest";
import { ensureNode18 } from "../../packages/cli/src/testing/node18.ts";
import { compileJava, needJava, run } from "./tools.ts";
import { IS_FULL_LENGTH } from "../support/full-length.ts";

const folder = (name: string) => fileURLToPath(new URL(`../../clients/${name}`, import.meta.url));

test("the Python core keeps its promises", async () => {
  const { code, output } = await run(["python3", "-W", "error::ResourceWarning", "-m", "unittest", "-v"], {
    cwd: folder("python"),
  });
  expect(output).toMatch(/^Ran [1-9]\d tests in [\d.]+s\n\nOK$/mu);
  expect(code).toBe(0);
});

test.for([
  ["the Node.js of this repository", () => execPath],
  ...(IS_FULL_LENGTH ? [["Node.js 18, the oldest that it is for", ensureNode18] as const] : []),
] as const)("the JavaScript core keeps its promises on %s", async ([, find]) => {
  const core = folder("javascript/core");
  const files = (await readdir(core)).filter((name) => name.endsWith(".test.js"));
  const { code, output } = await run([await find(), "--test", ...files], { cwd: core });
  expect(output).toMatch(/^# tests [1-9]\d$|^ℹ tests [1-9]\d$/mu);
  expect(output).toMatch(/^# fail 0$|^ℹ fail 0$/mu);
  expect(code).toBe(0);
});

test("the Java core keeps its promises", async ({ skip, onTestFinished }) => {
  const jars = await needJava(skip);
  const classes = await mkdtemp(join(tmpdir(), "platform-core-"));
  onTestFinished(() => rm(classes, { recursive: true }));
  const sources = [folder("java/src/main/java"), folder("java/tests")];
  const path = await compileJava(sources, classes, [join(jars, "*")]);
  const { code, output } = await run(["java", "-cp", path, "io.platform.client.CoreTest"]);
  expect(output).toMatch(/^Ran [1-9]\d tests, 0 failed$/mu);
  expect(code).toBe(0);
});

/** The programs print what the first call of a client is refused with. */
const FIRST_CALLS = {
  python: [
    "python3",
    "-c",
    `import sys
from platform_client import Client, ServerUnreachable
try:
    Client(sys.argv[1], "id", "secret").run({})
except ServerUnreachable as error:
    print(error)`,
  ],
  "javascript/core": [
    execPath,
    "--input-type=module",
    "--eval",
    `import { argv, cwd } from "node:process";
const { Client, ServerUnreachable } = await import(cwd() + "/index.js");
const failure = await new Client({ endpoint: argv[1], keyId: "id", secret: "secret" }).run({}).catch((error) => error);
if (failure instanceof ServerUnreachable) console.log(failure.message);`,
  ],
} as const;

test.for(["python", "javascript/core"] as const)(
  "the core in clients/%s asks a server once whose certificate nobody vouches for",
  async (name, { onTestFinished }) => {
    let connections = 0;
    const server = createServer({ key: TEST_KEY, cert: TEST_CERTIFICATES.selfSigned });
    server.on("connection", () => (connections += 1));
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const { output } = await run([...FIRST_CALLS[name], `https://127.0.0.1:${port}/owner/service/1.0.0`], {
      cwd: folder(name),
    });
    expect(output).toMatch(/self-signed certificate/iu);
    expect(connections).toBe(1);
  },
);
