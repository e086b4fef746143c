import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createFixture, waitFor } from "../../testing/python-fixture.ts";
import type { Fixture } from "../../testing/python-fixture.ts";
import type { ExternalRun } from "../port/runtime.ts";

/* What a run of an external backend begins elsewhere: its handle is stored before it goes on, and a cancellation is told to it. */

const PREFIX = `
import os, socket, struct, sys, time
from platform_service import Cancelled, cancellable, get_handle, keep_handle, was_lost

class Lost(Exception):
    code = "WORKER_LOST"
    detail = "Nothing is known of it."

def write(kind, payload):
    for name in os.listdir("/proc/self/fd"):
        try:
            if int(name) > 2 and os.readlink(f"/proc/self/fd/{name}").startswith("socket:"):
                os.write(int(name), struct.pack(">IB", len(payload), kind) + payload)
        except OSError:
            pass
`;
const BROKEN = {
  status: "FAILED",
  code: "EXECUTION_ERROR",
  detail: expect.stringContaining("own connection") as unknown,
};
const CANCELLED = { code: "CANCELLED", detail: "It was cancelled." } as const;

interface Kept extends ExternalRun {
  readonly handles: readonly string[];
}

/** @param answer when a handle is stored, and whether */
function createExternal(
  given: Partial<ExternalRun> = {},
  answer: () => Promise<boolean> = async () => true,
): Kept {
  const handles: string[] = [];
  return {
    handle: null,
    wasLost: false,
    ...given,
    handles,
    onHandle: async (handle) => {
      handles.push(handle);
      return await answer();
    },
  };
}

describe.each(["auto", "spawn"] as const)("an external backend, with the start mode %s", (startMode) => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await createFixture({ times: { graceMs: 50, externalGraceMs: 5_000 } });
  });
  afterAll(() => fixture.close());

  const createVersion = (body: string, isExternal = true) =>
    fixture.createVersion(`${PREFIX}def run(data):\n    ${body.replaceAll("\n", "\n    ")}\n`, {
      startMode,
      isExternal,
    });
  const finish = (body: string, external: ExternalRun = createExternal(), options = {}) =>
    fixture.finish(createVersion(body), { external, ...options });

  test("goes on when its handle is stored, and not before", async () => {
    const stored: (() => void)[] = [];
    const external = createExternal({}, () => new Promise((resolve) => stored.push(() => resolve(true))));
    const version = createVersion(
      'keep_handle("job 7")\nprint("kept", flush=True)\nreturn {"is": get_handle()}',
    );
    const run = fixture.start(version, { external });
    await waitFor("the handle to come", () => stored.length > 0);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect([external.handles, run.lines]).toEqual([["job 7"], []]);
    for (const store of stored) store();
    expect(await run.outcome).toMatchObject({ status: "SUCCEEDED", result: Buffer.from('{"is":"job 7"}') });
    await run.ended;
  });

  test("has the handle of an attempt before, and knows whether that was lost", async () => {
    const body = 'return {"handle": get_handle(), "lost": was_lost()}';
    expect((await finish(body)).result).toEqual({ handle: null, lost: false });
    const second = createExternal({ handle: '{"job":"7"}', wasLost: true });
    expect((await finish(body, second)).result).toEqual({ handle: '{"job":"7"}', lost: true });
  });

  test("is told nothing where the claim is lost: it waits until it is ended", async () => {
    const external = createExternal({}, async () => false);
    const { outcome, lines } = await finish('keep_handle("a")\nprint("kept", flush=True)', external, {
      timeoutSeconds: 1,
    });
    expect([outcome, lines]).toMatchObject([{ code: "TIMEOUT" }, []]);
  });

  test("keeps no handle that is none", async () => {
    const { result } = await finish(
      'told = []\nfor handle in ("", "x" * 4097, "K\u00f6ln", "a\\nb"):\n    try:\n        keep_handle(handle)\n    except ValueError:\n        told.append(len(handle))\nreturn {"told": told}',
    );
    expect(result).toEqual({ told: [0, 4097, 4, 3] });
  });

  test.each<readonly [string, string]>([
    ["a handle that is too long", "write(27, b'x' * 4097)"],
    ["a handle with a line break", "write(27, b'a\\nb')"],
    ["one before the last was stored", "write(27, b'a' * 9)\nwrite(27, b'b' * 9)"],
  ])("ends for %s on its connection", async (_what, body) => {
    const external = createExternal(
      {},
      () => new Promise((resolve) => setTimeout(() => resolve(true), 3_000)),
    );
    expect((await finish(`${body}\ntime.sleep(600)`, external)).outcome).toMatchObject(BROKEN);
    expect(external.handles.filter((handle) => !/^a+$/u.test(handle))).toEqual([]);
  });

  test("keeps handles at a pace", async () => {
    const external = createExternal();
    const version = createVersion("for n in range(9):\n    keep_handle(str(n))\nreturn {}");
    const began = performance.now();
    expect((await fixture.finish(version, { external })).outcome.status).toBe("SUCCEEDED");
    expect(external.handles).toHaveLength(9);
    expect(performance.now() - began).toBeGreaterThan(4_500);
  });

  test("does not keep any for a version that is none", async () => {
    const external = createExternal();
    const version = createVersion("write(27, b'a')\ntime.sleep(600)", false);
    expect((await fixture.finish(version)).outcome).toMatchObject(BROKEN);
    const silent = createVersion('keep_handle("a")\nreturn {"handle": get_handle()}', false);
    expect((await fixture.finish(silent)).result).toEqual({ handle: null });
    expect(external.handles).toEqual([]);
  });

  test("hears of its cancellation where it is ready for that, has time, and may still keep a handle", async () => {
    const external = createExternal();
    const version = createVersion(
      'print("submitting", flush=True)\ntime.sleep(0.5)\nkeep_handle("a")\ntry:\n    with cancellable():\n        time.sleep(600)\nexcept Cancelled:\n    time.sleep(0.5)\n    keep_handle("cancelled")\n    raise',
    );
    const run = fixture.start(version, { external });
    await waitFor("it to begin", () => run.lines.length > 0);
    run.kill(CANCELLED);
    expect(await run.outcome).toMatchObject({ status: "FAILED", ...CANCELLED });
    await run.ended;
    expect(external.handles).toEqual(["a", "cancelled"]);
  });

  test("is asked to end as well when its time is over", async () => {
    const external = createExternal();
    const body =
      'try:\n    with cancellable():\n        time.sleep(600)\nexcept Cancelled:\n    keep_handle("cancelled")';
    const { outcome } = await finish(body, external, { timeoutSeconds: 1 });
    expect([outcome, external.handles]).toMatchObject([{ code: "TIMEOUT" }, ["cancelled"]]);
  });

  test("may say that nothing can be known of an attempt before, only where its worker was lost", async () => {
    expect((await finish("raise Lost", createExternal({ wasLost: true }))).outcome).toEqual({
      status: "UNKNOWN",
      code: "WORKER_LOST",
      detail: "Nothing is known of it.",
      isFinal: true,
    });
    expect((await finish("raise Lost")).outcome).toMatchObject({ status: "FAILED", code: "EXECUTION_ERROR" });
  });
});
