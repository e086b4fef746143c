import { EventEmitter, once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createDeferred } from "../base/deferred.ts";
import { createUuidV7 } from "../base/uuid.ts";
import type { ExecutionStore } from "../store/execution-store.ts";
import { createDispatchScene, OWNER, WITHIN } from "../testing/dispatch-scene.ts";
import type { DispatchScene } from "../testing/dispatch-scene.ts";
import type { DispatcherOptions } from "./dispatcher.ts";

const REFERENCE = {
  dataPoolId: createUuidV7(),
  dataSourceDescriptorId: createUuidV7(),
  fileId: createUuidV7(),
};
const PIN = { ...REFERENCE, sha256: "0".repeat(64), bytes: 9 };

let scene: DispatchScene;

beforeEach(async () => {
  scene = await createDispatchScene();
});

afterEach(() => scene.close());

/** Where runs of `program` come in and stay until they are let go, so that how many run together does not depend on time. */
async function openGate() {
  const inside = new Set<Socket>();
  const folder = mkdtempSync(join(tmpdir(), "gate-"));
  const line = join(folder, "line");
  let most = 0;
  const server = createServer((socket) => {
    inside.add(socket);
    most = Math.max(most, inside.size);
    socket.on("error", () => undefined).on("close", () => inside.delete(socket));
  }).listen(line);
  await once(server, "listening");
  chmodSync(line, 0o777);
  return {
    line,
    program: `import socket
def run():
    with socket.socket(socket.AF_UNIX) as gate:
        gate.connect("line")
        gate.recv(1)
`,
    inside,
    most: () => most,
    letOneGo: () => {
      const [first] = inside;
      if (first === undefined) throw new Error("Nobody is inside.");
      inside.delete(first);
      first.end("k");
    },
    close: async () => {
      server.close();
      await once(server, "close");
      rmSync(folder, { recursive: true });
    },
  };
}

describe("dispatcher", () => {
  test("runs what is pending and stores result and log before it says SUCCEEDED", async () => {
    const id = await scene.start(
      "def run(data):\n    print('adding')\n    return {'sum': sum(data['numbers'])}\n",
      { json: { data: { numbers: [1, 2, 3] } } },
    );
    scene.createDispatcher().start();
    await expect.poll(() => scene.statusOf(id), WITHIN).toBe("SUCCEEDED");
    expect(Buffer.from((await scene.store.readResult(id, OWNER))?.result ?? []).toString()).toBe('{"sum":6}');
    expect(
      JSON.parse(Buffer.from((await scene.store.readLog(id, OWNER))?.lines ?? []).toString()),
    ).toMatchObject([{ severity: "INFO", message: "adding" }]);
  });

  test("hands the trace of a start to user code, and to no other execution of its process", async () => {
    const program =
      "import os\ndef run(): return {n: os.environ[n] for n in os.environ if n.startswith('TRACE')}\n";
    const trace = { traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`, tracestate: "acme=1" };
    const traced = await scene.start(program, { trace });
    const versionId = (await scene.find(traced)).versionId;
    const plain = await scene.start(program, { versionId });
    scene.createDispatcher().start();
    const read = async (id: string) => {
      await expect.poll(() => scene.statusOf(id), WITHIN).toBe("SUCCEEDED");
      return JSON.parse(Buffer.from((await scene.store.readResult(id, OWNER))?.result ?? []).toString());
    };
    expect(await read(traced)).toEqual({ TRACEPARENT: trace.traceparent, TRACESTATE: "acme=1" });
    expect(await read(plain)).toEqual({});
  });

  test("puts the content of references in the place of data and params", async () => {
    scene.files.set(REFERENCE.fileId, '{"a": 20}');
    const id = await scene.start("def run(data, params):\n    return {'sum': data['a'] + params['b']}\n", {
      json: { dataRef: REFERENCE, params: { b: 3 } },
      references: { data: PIN },
    });
    scene.createDispatcher().start();
    await expect.poll(() => scene.statusOf(id), WITHIN).toBe("SUCCEEDED");
    expect(Buffer.from((await scene.store.readResult(id, OWNER))?.result ?? []).toString()).toBe(
      '{"sum":23}',
    );
  });

  test("never runs more than fits, and starts the next when room is free, also with fractions of vCPUs", async () => {
    const gate = await openGate();
    scene.createDispatcher({ capacity: { cpu: 0.3, memory: 1 } }).start();
    const total = 6;
    const ids: string[] = [];
    for (let count = 0; count < total; count++)
      ids.push(
        await scene.start(gate.program, {
          line: gate.line,
          resources: { cpu: 0.1, memory: 0.1 },
        }),
      );
    for (let left = total; left > 0; left--) {
      await expect.poll(() => gate.inside.size, WITHIN).toBe(Math.min(3, left));
      gate.letOneGo();
    }
    await expect
      .poll(async () => new Set(await Promise.all(ids.map(scene.statusOf))), WITHIN)
      .toEqual(new Set(["SUCCEEDED"]));
    expect(gate.most()).toBe(3);
    await gate.close();
  });

  test("cancel ends a running execution as FAILED with code CANCELLED", async () => {
    const id = await scene.start("import time\ndef run():\n    time.sleep(600)\n");
    scene.createDispatcher().start();
    await expect.poll(() => scene.statusOf(id), WITHIN).toBe("RUNNING");
    await scene.store.cancel(id, OWNER);
    await expect.poll(async () => (await scene.find(id)).failure?.code, WITHIN).toBe("CANCELLED");
  });

  test("a cancellation that overtakes the answer of the claim is not lost: the execution never begins", async () => {
    const store: ExecutionStore = {
      ...scene.store,
      claim: async (request) => {
        const answer = await scene.store.claim(request);
        for (const { id } of answer.claims) await scene.store.cancel(id, OWNER);
        return answer;
      },
      // A renewal would tell of it later.
      renew: async () => ({ lost: [], cancelled: [], busy: [] }),
    };
    const id = await scene.start("import time\nprint('begun')\ndef run():\n    time.sleep(600)\n");
    scene.createDispatcher({ store }).start();
    await expect.poll(async () => (await scene.find(id)).failure?.code, WITHIN).toBe("CANCELLED");
    expect(Buffer.from((await scene.store.readLog(id, OWNER))?.lines ?? []).toString()).toBe("[]");
  });

  test("the room of a cancelled execution is free only when its processes are confirmed dead", async () => {
    const events: string[] = [];
    const runtime: DispatcherOptions["runtime"] = {
      ...scene.fixture.runtime,
      run: (request) => {
        events.push("started");
        const run = scene.fixture.runtime.run(request);
        void run.outcome.then(() => events.push("answered"));
        const ended = Promise.all([run.ended, death.promise]).then(() => void events.push("dead"));
        return { ...run, ended };
      },
    };
    const death = createDeferred<undefined>();
    const program = "import time\ndef run():\n    time.sleep(600)\n";
    const ids = [await scene.start(program), await scene.start(program)];
    scene.createDispatcher({ runtime, capacity: { cpu: 1, memory: 1 } }).start();
    await expect.poll(() => events, WITHIN).toEqual(["started"]);
    const records = await Promise.all(ids.map(scene.find));
    const first = records.find(({ status }) => status === "RUNNING")?.id ?? "";
    await scene.store.cancel(first, OWNER);
    await expect.poll(async () => (await scene.find(first)).failure?.code, WITHIN).toBe("CANCELLED");
    expect(events).toEqual(["started", "answered"]);
    death.resolve(undefined);
    await expect.poll(() => events, WITHIN).toEqual(["started", "answered", "dead", "started"]);
    for (const id of ids) await scene.store.cancel(id, OWNER);
    await expect.poll(async () => Promise.all(ids.map(scene.statusOf)), WITHIN).toEqual(["FAILED", "FAILED"]);
  });

  test("kills what runs when the lease cannot be renewed, and writes nothing over what others settled", async () => {
    const silent: ExecutionStore = {
      ...scene.store,
      renew: async () => Promise.reject(new Error("the store does not answer")),
    };
    const dispatcher = scene.createDispatcher({ leaseSeconds: 1, store: silent });
    const id = await scene.start("import time\ndef run():\n    time.sleep(600)\n");
    dispatcher.start();
    await expect
      .poll(async () => (await scene.store.sweep()) > 0 || (await scene.statusOf(id)) === "UNKNOWN", WITHIN)
      .toBe(true);
    expect((await scene.find(id)).failure?.code).toBe("WORKER_LOST");
    // The run would last longer than this test may.
    await dispatcher.drain(60);
    expect(await scene.statusOf(id)).toBe("UNKNOWN");
  });

  test("an execution that needs the whole worker starts before all the smaller ones behind it have run", async () => {
    const small = "import time\ndef run():\n    time.sleep(0.4)\n";
    const startSmall = (index: number) =>
      scene.start(small, { resources: { cpu: index % 2 === 0 ? 1 : 0.7, memory: 1 } });
    await startSmall(0);
    const large = await scene.start("def run(): pass\n", { resources: { cpu: 2, memory: 1 } });
    const others: string[] = [];
    for (let index = 1; index < 16; index++) others.push(await startSmall(index));
    scene.createDispatcher({ reservesAfterSeconds: 0 }).start();
    await expect.poll(() => scene.statusOf(large), WITHIN).toBe("SUCCEEDED");
    const statuses = await Promise.all(others.map(scene.statusOf));
    expect(statuses).toContain("PENDING");
  });

  test("a worker that is held up claims nothing and makes room for nothing, and goes on when that is over", async () => {
    let isHeldUp = true;
    const reports: (number | null)[] = [];
    const report: ExecutionStore["report"] = async (given) => {
      reports.push(given.reservesAfterSeconds);
      return scene.store.report(given);
    };
    const id = await scene.start("def run(): return 1\n");
    scene.createDispatcher({ isHeldUp: () => isHeldUp, store: { ...scene.store, report } }).start();
    await expect.poll(() => reports.slice(0, 2), WITHIN).toEqual([null, null]);
    expect(await scene.statusOf(id)).toBe("PENDING");
    isHeldUp = false;
    await expect.poll(() => scene.statusOf(id), WITHIN).toBe("SUCCEEDED");
  });

  test("drain lets what runs finish and claims no more", async () => {
    const running = await scene.start("import time\ndef run():\n    time.sleep(0.3)\n");
    const dispatcher = scene.createDispatcher();
    dispatcher.start();
    await expect.poll(() => scene.statusOf(running), WITHIN).toBe("RUNNING");
    const drained = dispatcher.drain(10);
    const late = await scene.start("def run(): ...\n");
    await drained;
    expect([await scene.statusOf(running), await scene.statusOf(late)]).toEqual(["SUCCEEDED", "PENDING"]);
  });

  test("drain runs what a claim under way brings, instead of leaving it to its lease", async () => {
    const gate = new EventEmitter();
    const opened = once(gate, "open");
    const claimed = new Set<string>();
    const slow: ExecutionStore = {
      ...scene.store,
      claim: async (request) => {
        const answer = await scene.store.claim(request);
        for (const { id } of answer.claims) claimed.add(id);
        await opened;
        return answer;
      },
    };
    const dispatcher = scene.createDispatcher({ store: slow });
    const id = await scene.start("def run(): ...\n");
    dispatcher.start();
    await expect.poll(() => claimed.has(id), WITHIN).toBe(true);
    const drained = dispatcher.drain(10);
    gate.emit("open");
    await drained;
    expect(await scene.statusOf(id)).toBe("SUCCEEDED");
  });

  test("a worker that stops leaves the runtime that it was lent to its owner", async () => {
    const stopping = scene.createDispatcher();
    stopping.start();
    await stopping.drain(0);
    await stopping.close();
    const id = await scene.start("def run(): ...\n");
    scene.createDispatcher().start();
    await expect.poll(() => scene.statusOf(id), WITHIN).toBe("SUCCEEDED");
  });

  test("what is still running after the drain is killed with the runtime, and then is UNKNOWN", async () => {
    const gate = await openGate();
    const id = await scene.start(gate.program, { line: gate.line });
    const dispatcher = scene.createDispatcher();
    dispatcher.start();
    await expect.poll(() => gate.inside.size, WITHIN).toBe(1);
    await scene.stop(dispatcher, 0.1);
    expect(await scene.statusOf(id)).toBe("UNKNOWN");
    await gate.close();
  });

  test("a second request to stop does not drop the outcomes that are being written", async () => {
    const gate = await openGate();
    const writes = new EventEmitter();
    const asked = once(writes, "asked");
    const allowed = once(writes, "allowed");
    const finish: ExecutionStore["finish"] = async (claim, outcome) => {
      writes.emit("asked");
      await allowed;
      return scene.store.finish(claim, outcome);
    };
    const id = await scene.start(gate.program, { line: gate.line });
    const dispatcher = scene.createDispatcher({ store: { ...scene.store, finish } });
    dispatcher.start();
    await expect.poll(() => gate.inside.size, WITHIN).toBe(1);
    const killing = new AbortController();
    await dispatcher.drain(0, killing.signal);
    await scene.fixture.runtime.close();
    const closed = dispatcher.close().then(() => scene.statusOf(id));
    await asked;
    killing.abort();
    setImmediate(() => writes.emit("allowed"));
    expect(await closed).toBe("UNKNOWN");
    await gate.close();
  });
});
