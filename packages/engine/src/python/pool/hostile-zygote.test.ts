import { afterAll, beforeAll, expect, test } from "vitest";
import { createFixture, waitFor } from "../../testing/python-fixture.ts";
import { findZygote, findZygotes } from "../../testing/find-zygote.ts";
import type { Fixture } from "../../testing/python-fixture.ts";
import { redactSecrets } from "../redaction.ts";
import { SILENT } from "../../testing/silent-logger.ts";

/*
 * A module that is imported shares a process with the zygote, and so its control line: what it writes there may be anything.
 */

let fixture: Fixture;
/** One that does not wait for a boot that is slow, or hangs. */
let impatient: Fixture;
const notes: { readonly fields: Record<string, unknown>; readonly message: string }[] = [];
const note = (fields: Record<string, unknown>, message: string): void => void notes.push({ fields, message });
beforeAll(async () => {
  const times = { exitMs: 300, confirmMs: 300 };
  const logger = { ...SILENT, info: note, warn: note, error: note };
  fixture = await createFixture({ times, logger });
  impatient = await createFixture({ times: { ...times, bootMs: 2000 } });
});
afterAll(async () => {
  await fixture.close();
  await impatient.close();
});

const SAY =
  "import json, os, sys, time\ndef say(**event): os.write(3, json.dumps(event).encode() + b'\\n')\n";

test.each(["gone", "refused"])(
  "an execution that is said to be %s while it runs keeps its time limit, and gives its place back",
  async (event) => {
    const version = fixture.createVersion(`${SAY}
import signal
signal.signal(signal.SIGUSR1, lambda *_: say(event="${event}", id=1, reason=""))
def run():
    print("running")
    time.sleep(600)
`);
    const run = fixture.start(version, { timeoutSeconds: 5 });
    await waitFor("it runs", () => run.lines.length > 0);
    process.kill(findZygote(version), "SIGUSR1");
    expect(await run.outcome).toMatchObject({ status: "FAILED", code: "TIMEOUT" });
    await run.ended;
  },
);

test("a zygote that says it is ready and answers no more is ended: nobody waits for ever", async () => {
  const version = impatient.createVersion(
    `${SAY}say(event="ready", mode="fork")\ntime.sleep(600)\ndef run(): ...\n`,
  );
  expect((await impatient.finish(version, { timeoutSeconds: 1 })).outcome).toMatchObject({
    status: "NOT_STARTED",
    scope: "version",
  });
});

test("a child that names another process is given no execution: whoever is not known has no limits", async () => {
  const version = impatient.createVersion(`
import sys
sys.modules["service_runner.admission"].read_number = lambda: 1
def run(): return 1
`);
  expect((await impatient.finish(version)).outcome).toMatchObject({
    status: "NOT_STARTED",
    scope: "version",
  });
});

test("a zygote that says it cannot fork is ended, whether it leaves or not; what it repeats is not logged", async () => {
  const program = `${SAY}
if "spawned" not in sys.argv:
    for _ in range(100):
        say(event="unsafe", reason="because")
    time.sleep(600)
def run(): return 1
`;
  const version = fixture.createVersion(program);
  expect((await fixture.finish(version)).result).toEqual({ value: 1 });
  const said = notes.filter(({ fields }) => fields["versionId"] === version.id);
  expect(said.map(({ message }) => message)).toEqual([
    "each execution of this version starts a fresh interpreter",
  ]);
});

test("what is printed by the import is not taken for output of a zygote that is ready, also where both are read at once", async () => {
  const version = fixture.createVersion("print('imported', flush=True)\ndef run(): return 1\n");
  const run = fixture.start(version);
  await waitFor("its zygote", () => findZygotes(version).length > 0);
  // This process reads nothing while it boots.
  const end = performance.now() + 3_000;
  while (performance.now() < end);
  expect((await run.outcome).status).toBe("SUCCEEDED");
  expect(notes.filter(({ message }) => message === "output of a zygote")).toEqual([]);
  await run.ended;
});

test("a traceback of any length is kept to a few lines for each execution that waits", async () => {
  const version = fixture.createVersion("raise ValueError('line\\n' * 200_000)");
  const { outcome, lines } = await fixture.finish(version);
  expect(outcome).toMatchObject({
    status: "FAILED",
    code: "STARTUP_ERROR",
    detail: expect.stringContaining("ValueError: line"),
  });
  expect(lines.length).toBeLessThan(5000);
  expect(lines.at(-1)?.message).toContain("further output is dropped");
});

test("what a build says at its end is read to its end, however long it is", async () => {
  const version = fixture.createVersion(
    "from typing import TypedDict\n" +
      "Data = TypedDict('Data', {f'field_{n}_' + 'x' * 100: int for n in range(5000)})\ndef run(data: Data): ...\n",
  );
  const probe = await fixture.runtime.probe(version);
  expect(probe).toMatchObject({ ok: true, inputSchema: { type: "object" } });
});

test("a schema that no code can walk to its end is not read: the build fails as one whose import ended, also where secrets are taken out", async () => {
  const deep = '{"event":"probed","mode":"fork","reason":null,"output":null,"input":{"a":%s}}';
  const version = fixture.createVersion(`${SAY}
levels = 1_000_000
os.write(3, b'${deep}\\n' % (b"[" * levels + b"]" * levels))
os._exit(0)
`);
  const probe = await redactSecrets(fixture.runtime).probe({ ...version, secrets: ["s3cr3t-value"] });
  expect(probe).toMatchObject({ ok: false, code: "STARTUP_ERROR" });
});
