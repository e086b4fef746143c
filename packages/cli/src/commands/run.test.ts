import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createCliHome, waitFor } from "../testing/cli-process.ts";
import type { CliHome, RunningCli } from "../testing/cli-process.ts";
import { TOKEN, startPlatformPeer } from "../testing/platform-peer.ts";
import type { PlatformPeer } from "../testing/platform-peer.ts";

let home: CliHome;
let peer: PlatformPeer;
let variables: Record<string, string>;

beforeEach(async () => {
  [home, peer] = await Promise.all([createCliHome(), startPlatformPeer()]);
  variables = { PLATFORM_ENDPOINT: peer.url, PLATFORM_PERSONAL_ACCESS_TOKEN: TOKEN };
  await home.createProject("demo");
  const created = await fetch(`${peer.url}/api/services`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${TOKEN}` },
    body: '{"name":"demo"}',
  });
  if (created.status !== 201) throw new Error(`the service was not created: ${created.status}`);
});

afterEach(async () => {
  await Promise.all([home.close(), peer.close()]);
});

const call = (...words: readonly string[]) => home.run(words, { folder: "demo", variables });
const start = (...words: readonly string[]) => home.start(words, { folder: "demo", variables });
const bytes = (text: string) => new TextEncoder().encode(text);

/** Waits until the job is there, ends it so, and gives the body that the platform got. */
const finish = (...ended: Parameters<PlatformPeer["finishJobs"]>) =>
  waitFor("a job", async () => (await peer.finishJobs(...ended))[0]);

const startDetached = async (): Promise<string> => {
  const { stdout } = await call("run", "--detached", "--json");
  return (JSON.parse(stdout) as { id: string }).id;
};

const succeed = { status: "SUCCEEDED", result: bytes('{"sum":42}'), metadata: null } as const;
const metadata = { _usage: { cpuSeconds: 0.5, peakMemoryBytes: 5000 } };
const fail = { status: "FAILED", code: "EXECUTION_ERROR", detail: "ValueError: no", metadata } as const;

test("run sends the example input and prints outcome, result and link", async () => {
  const running = start("run");
  const body = await finish(succeed);
  const { exitCode, stdout } = await running.ended;

  expect(exitCode).toBe(0);
  expect(JSON.parse(body)).toEqual({ data: { values: [1, 2.5, 38.5] }, params: { precision: 2 } });
  expect(stdout).toContain("SUCCEEDED");
  expect(stdout).toContain('"sum": 42');
  expect(stdout).toContain(`${peer.url}/jobs/`);
});

test("a result cannot steer the terminal, and comes through whole", async () => {
  const hostile = "\u009b2J\u001b[2J\u0007\u007f";
  const outcome = { ...succeed, result: bytes(JSON.stringify({ [hostile]: hostile })) };
  for (const words of [["run"], ["run", "--json"]]) {
    const running = start(...words);
    await finish(outcome);
    const { stdout, stderr } = await running.ended;
    // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
    expect(`${stdout}${stderr}`).not.toMatch(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/);
    expect(stdout).toContain("\\u009b2J\\u001b[2J");
  }
});

test("a failure cannot steer the terminal", async () => {
  const running = start("run");
  await finish({ ...fail, detail: "\u009b2Jgone\u001b]0;title\u0007" }, { log: ["\u009b2J"] });
  const { stdout, stderr } = await running.ended;
  expect(stderr).toContain("2Jgone");
  // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
  expect(`${stdout}${stderr}`).not.toMatch(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/);
});

test("a failed job prints code, detail and what it used, and is a failure", async () => {
  const running = start("run", "--json");
  await finish(fail);
  const { exitCode, stdout, stderr } = await running.ended;

  expect(exitCode).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    status: "FAILED",
    code: "EXECUTION_ERROR",
    detail: "ValueError: no",
    metadata,
  });
  expect(stderr).toContain("FAILED: EXECUTION_ERROR: ValueError: no");
});

test("an unknown outcome is a failure as well", async () => {
  const running = start("run", "--json");
  await finish({ status: "UNKNOWN", code: "WORKER_LOST", detail: "gone" });
  expect((await running.ended).exitCode).toBe(1);
});

test("inline input wins over the files and keeps every digit", async () => {
  const running = start("run", "demo", "-d", '{"n": 12345678901234567890}', "-p", "{}");
  const body = await finish(succeed);
  expect((await running.ended).exitCode).toBe(0);
  expect(body).toContain("12345678901234567890");
});

test("a result keeps every digit, for people, as JSON and in a file", async () => {
  const exact = "12345678901234567890";
  const running = start("run", "--json");
  await finish({ ...succeed, result: bytes(`{"big":${exact},"one":1.0}`) });
  const { stdout } = await running.ended;
  expect(stdout).toContain(exact);
  const { id } = JSON.parse(stdout) as { id: string };
  expect((await call("result", id)).stdout).toBe(`{\n  "big": ${exact},\n  "one": 1.0\n}\n`);
  await call("result", id, "-o", "result.json");
  expect(await readFile(join(home.directory, "demo/result.json"), "utf8")).toContain(exact);
});

test("a default file that does not exist is omitted; a named file must exist", async () => {
  await rm(join(home.directory, "demo/input/params.json"));
  const running = start("run");
  expect(JSON.parse(await finish(succeed))).not.toHaveProperty("params");
  expect((await running.ended).stderr).toContain("input/params.json does not exist");

  const named = await call("run", "--params-file", "input/params.json");
  expect(named.exitCode).toBe(1);
  expect(named.stderr).toContain("does not exist");
});

test.each([
  ["-d", "{", 2],
  ["-p", "[1]", 2],
  ["--data-file", "broken.json", 1],
])("%s %s is refused before anything is sent", async (option, value, exitCode) => {
  await writeFile(join(home.directory, "demo/broken.json"), "nonsense");
  const sent = peer.requests.length;
  expect((await call("run", option, value)).exitCode).toBe(exitCode);
  expect(peer.requests).toHaveLength(sent);
});

test("--timeout ends the waiting with a failure, not the job", async () => {
  const { exitCode, stdout } = await call("run", "--timeout", "1", "--json");
  expect(exitCode).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: "WAIT_TIMEOUT" } });
  expect(await finish(succeed)).toBeDefined();
});

test("Ctrl-C ends the waiting at once and says that the job continues", async () => {
  const running: RunningCli = start("run");
  await waitFor("the job's id", () => running.stderr().match(/Job [0-9a-f-]{36}/)?.[0]);
  running.interrupt();
  const { exitCode, stderr } = await running.ended;
  expect(exitCode).toBe(130);
  expect(stderr).toContain("The job continues");
});

test("a service that is not there is named", async () => {
  const { exitCode, stderr } = await call("run", "nothing", "-d", "{}");
  expect(exitCode).toBe(1);
  expect(stderr).toContain("There is no service 'nothing'");
});

test("status, result and logs of a job that was started detached", async () => {
  const id = await startDetached();
  const early = await call("result", id, "--json");
  expect(early.exitCode).toBe(1);
  expect(JSON.parse(early.stdout)).toMatchObject({ error: { code: "RESULT_NOT_READY" } });

  await finish(succeed, { log: ["one", "two \u001B[2Jthree"] });
  const status = await call("status", id, "--json");
  expect(JSON.parse(status.stdout)).toMatchObject({ id, status: "SUCCEEDED", terminal: true });
  const result = await call("result", id, "-o", "out/result.json");
  expect(result.exitCode).toBe(0);
  expect(JSON.parse(await readFile(join(home.directory, "demo/out/result.json"), "utf8"))).toEqual({
    sum: 42,
  });
  const logs = await call("logs", id, "--json");
  expect(JSON.parse(logs.stdout)).toMatchObject([{ message: "one", severity: "INFO" }, {}]);
  const shown = await call("logs", id);
  expect(shown.stdout).toContain("one");
  expect(shown.stdout).not.toContain("\u001B");
});

test("logs --follow continues until the job ends, and is one JSON array", async () => {
  const id = await startDetached();
  const running = start("logs", "--follow", id, "--json");
  await waitFor("the stream", () => peer.requests.find((request) => request.endsWith(`${id}/events`)));
  await finish(fail, { log: ["late line"] });
  const { exitCode, stdout } = await running.ended;
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject([{ message: "late line" }]);
});

test("logs --follow goes on behind the last line when its connection breaks", async () => {
  const id = await startDetached();
  const running = start("logs", "--follow", id);
  await peer.writeLine("first");
  await waitFor("the first line", () => running.stdout().match(/first/)?.[0]);
  peer.breakConnections();
  await peer.writeLine("second");
  await waitFor("the second line", () => running.stdout().match(/second/)?.[0]);
  await finish(succeed, { log: ["third"] });
  const { exitCode, stdout } = await running.ended;
  expect(exitCode).toBe(0);
  expect(stdout.match(/first|second|third/g)).toEqual(["first", "second", "third"]);
  expect(peer.requests.some((request) => request.endsWith("/log"))).toBe(false);
});

test("run and logs --follow poll a platform that has no streams of events", async () => {
  peer.forgetStreams();
  const run = start("run");
  await finish(succeed);
  expect(await run.ended).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('"sum": 42') });
  const id = await startDetached();
  const logs = start("logs", "--follow", id);
  await waitFor("the first poll", () => peer.requests.find((request) => request.endsWith(`${id}/log`)));
  await finish(succeed, { log: ["one line"] });
  expect(await logs.ended).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("one line") });
});

test("logs fetches a long log page by page, and each of its lines once, polled or not", async () => {
  const lines = Array.from({ length: 3000 }, (_, index) => `${index} ${"x".repeat(1000)}`);
  const id = await startDetached();
  await finish(succeed, { log: lines });
  const streamed = await call("logs", "--follow", id, "--json");
  expect((JSON.parse(streamed.stdout) as { message: string }[]).map(({ message }) => message)).toEqual(lines);
  peer.forgetStreams();
  for (const words of [
    ["logs", id, "--json"],
    ["logs", "--follow", id, "--json"],
  ]) {
    const before = peer.requests.length;
    const { stdout } = await call(...words);
    expect((JSON.parse(stdout) as { message: string }[]).map(({ message }) => message)).toEqual(lines);
    const reads = peer.requests.slice(before).filter((request) => request.includes(`${id}/log`));
    expect(reads.length).toBe(4);
    expect(new Set(reads).size).toBe(4);
  }
});

test("result of a failed job is a failure with the cause", async () => {
  const id = await startDetached();
  await finish(fail);
  const { exitCode, stdout, stderr } = await call("result", id);
  expect(exitCode).toBe(1);
  expect(stdout).toBe("");
  expect(stderr).toContain("EXECUTION_ERROR: ValueError: no");
});

test.each([
  ["failed", fail, "FAILED: EXECUTION_ERROR"],
  ["was cancelled", { status: "FAILED", code: "CANCELLED", detail: "Cancelled." }, "FAILED: CANCELLED"],
  ["timed out", { status: "FAILED", code: "TIMEOUT", detail: "Too long." }, "FAILED: TIMEOUT"],
  ["lost its worker", { status: "UNKNOWN", code: "WORKER_LOST", detail: "Gone." }, "UNKNOWN: WORKER_LOST"],
] as const)(
  "result of a job that %s is what it had kept, and standard error says that it is a part",
  async (_what, ended, cause) => {
    const id = await startDetached();
    await finish(ended, { checkpoint: '{"tour":[2,1.0]}' });
    const { exitCode, stdout, stderr } = await call("result", id);
    expect([exitCode, stdout]).toEqual([1, '{\n  "tour": [\n    2,\n    1.0\n  ]\n}\n']);
    expect(stderr).toContain(cause);
    expect(stderr).toContain("The result is partial: it is the last that the run had kept.");
    const whole = await call("result", id, "--json");
    expect(JSON.parse(whole.stdout)).toMatchObject({
      partial: true,
      result: { tour: [2, 1] },
      code: ended.code,
    });
    const written = await call("result", id, "-o", "part.json");
    expect([written.exitCode, written.stderr]).toEqual([1, expect.stringContaining("is partial")]);
    expect(await readFile(join(home.directory, "demo/part.json"), "utf8")).toBe(stdout);
  },
);

test("status of a failed job says why it failed, for people and as JSON", async () => {
  const id = await startDetached();
  await finish({ ...fail, detail: "ValueError: \u001B[2Jno" });
  const shown = await call("status", id);
  expect(shown.exitCode).toBe(0);
  expect(shown.stdout).toContain("Status   FAILED\nCode     EXECUTION_ERROR\nDetail   ValueError: ");
  expect(shown.stdout).not.toContain("\u001B");
  const { code, detail, status } = JSON.parse((await call("status", id, "--json")).stdout) as Record<
    string,
    unknown
  >;
  expect([status, code, detail]).toEqual(["FAILED", "EXECUTION_ERROR", "ValueError: \u001B[2Jno"]);
});

test("cancel ends a job; one that had ended stays as it was, and says how it ended", async () => {
  const id = await startDetached();
  const cancelled = await call("cancel", id, "--json");
  expect(cancelled.exitCode).toBe(0);
  expect(JSON.parse(cancelled.stdout)).toMatchObject({ status: "FAILED" });

  expect((await call("cancel", id)).stdout).toContain("The job was cancelled.");

  const failed = await startDetached();
  await finish(fail);
  const unchanged = await call("cancel", failed);
  expect(unchanged.exitCode).toBe(0);
  expect(unchanged.stdout).toContain("it was not cancelled. FAILED: EXECUTION_ERROR: ValueError: no");

  const other = await startDetached();
  await finish(succeed);
  const late = await call("cancel", other);
  expect(late.exitCode).toBe(1);
  expect(late.stdout).toContain("already SUCCEEDED");
});

test("a job that is not there is named with its code", async () => {
  const { exitCode, stdout } = await call("status", "0198c1de-7a53-7000-8000-000000000000", "--json");
  expect(exitCode).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: "EXECUTION_NOT_FOUND" } });
});

test("services and versions print one JSON array each", async () => {
  const services = await call("services", "--json");
  expect(JSON.parse(services.stdout)).toMatchObject([{ name: "demo" }]);
  const versions = await call("versions", "--json");
  expect(JSON.parse(versions.stdout)).toEqual([]);
});

test("run with a key that was used before starts no other job, and says so", async () => {
  const first = await call("run", "--detached", "--json", "--idempotency-key", "order 4711");
  expect(first.exitCode).toBe(1);
  expect(first.stderr).toContain("Idempotency-Key");
  const words = ["run", "--detached", "--json", "--idempotency-key", "order-4711"];
  const started = await call(...words);
  const again = await call(...words);
  expect([started.exitCode, again.exitCode]).toEqual([0, 0]);
  const { id } = JSON.parse(started.stdout) as { id: string };
  expect(JSON.parse(again.stdout)).toMatchObject({ id });
  expect(started.stderr).not.toContain("before");
  expect(again.stderr).toContain(`The key has started the job ${id} before`);
  const other = await call(...words, "--data", "{}");
  expect([other.exitCode, other.stderr]).toEqual([1, expect.stringContaining("another request")]);
});

test("run --batch starts a job for each line, names those that are refused, and fails unless all succeed", async () => {
  await writeFile(join(home.directory, "demo", "jobs.jsonl"), '{"data": {"n": 1}}\n\n{"data": 17}\n{}\n');
  const running = start("run", "--batch", "jobs.jsonl", "--idempotency-key", "batch-1", "--json");
  const bodies: string[] = [];
  await waitFor("two jobs", async () => {
    bodies.push(...(await peer.finishJobs(succeed)));
    return bodies.length === 2 ? bodies : undefined;
  });
  const { exitCode, stdout, stderr } = await running.ended;
  expect(exitCode).toBe(1);
  expect(bodies).toContain('{"data": {"n": 1}}');
  expect(stderr).toContain("Item 2 was not started: INVALID_INPUT");
  const batch = JSON.parse(stdout);
  expect(batch).toMatchObject({ total: 3, refused: 1, failed: 0, terminal: true, counts: { SUCCEEDED: 2 } });
  expect(batch.items.map(({ status, code }: { status?: string; code?: string }) => status ?? code)).toEqual([
    "SUCCEEDED",
    "INVALID_INPUT",
    "SUCCEEDED",
  ]);
  const again = await call("run", "--batch", "jobs.jsonl", "--idempotency-key", "batch-1", "--json");
  expect(JSON.parse(again.stdout).items).toEqual(batch.items);
  const cancelled = await call("cancel", "--batch", batch.id);
  expect([cancelled.exitCode, cancelled.stdout]).toEqual([0, expect.stringContaining("had already ended")]);
});

test("run --batch says of a file what is wrong with it, and cancel --batch ends what was started", async () => {
  const path = join(home.directory, "demo", "jobs.jsonl");
  const run = async () => await call("run", "--batch", "jobs.jsonl", "--detached", "--json");
  expect((await run()).stderr).toContain("does not exist");
  await writeFile(path, "\n");
  expect((await run()).stderr).toContain("has 0 lines");
  await writeFile(path, "{}\n{");
  expect((await run()).stderr).toContain("Line 2");
  await writeFile(path, "{}\n{}\n");
  const { id } = JSON.parse((await run()).stdout) as { id: string };
  const cancelled = await call("cancel", "--batch", id, "--json");
  expect(JSON.parse(cancelled.stdout)).toMatchObject({ id, terminal: true, counts: { FAILED: 2 } });
  const neither = await call("cancel");
  expect([neither.exitCode === 0, neither.stderr.includes("--batch")]).toEqual([false, true]);
});
