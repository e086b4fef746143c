import { Problem } from "@platform/contract/problems";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ProgressUpdate } from "../python/port/runtime.ts";
import type { ClaimKey } from "../store/execution-store.ts";
import { OWNER, WITHIN, createDispatchScene } from "../testing/dispatch-scene.ts";
import type { DispatchScene } from "../testing/dispatch-scene.ts";
import { createClaimOf } from "../testing/execution-fixtures.ts";
import { SILENT } from "../testing/silent-logger.ts";
import { createProgressKeeper } from "./note-progress.ts";

const CLAIM = createClaimOf("worker");
const AWAY = new Problem("UNAVAILABLE");
const HALF = { progress: { fraction: 0.5, message: "half" }, checkpoint: null };
const KEPT = { progress: null, checkpoint: Buffer.from('{"n":1}') };

const END = () => Promise.resolve(true);

/** A store that refuses with these errors first, one after the other. */
function createRefusing(...errors: readonly Error[]) {
  const left = [...errors];
  const stored: ProgressUpdate[] = [];
  const noteProgress = async (_claim: ClaimKey, update: ProgressUpdate) => {
    const error = left.shift();
    if (error !== undefined) throw error;
    stored.push(update);
    return true;
  };
  return { stored, keeper: createProgressKeeper({ store: { noteProgress }, logger: SILENT }, CLAIM) };
}

describe("what a run reports", () => {
  test("is stored, and an end then costs nothing more", async () => {
    const { stored, keeper } = createRefusing();
    await keeper.note(HALF);
    expect(keeper.before(END)).toBe(END);
    expect(stored).toEqual([HALF]);
  });

  test("and could not be stored is stored with the next", async () => {
    const { stored, keeper } = createRefusing(AWAY, AWAY);
    await keeper.note(HALF);
    await keeper.note(KEPT);
    await keeper.note({ progress: { fraction: 1, message: "" }, checkpoint: null });
    expect(stored).toEqual([{ progress: { fraction: 1, message: "" }, checkpoint: KEPT.checkpoint }]);
  });

  test("is stored before the end, which waits while the store is away", async () => {
    const { stored, keeper } = createRefusing(AWAY, AWAY);
    await keeper.note(KEPT);
    const ended: number[] = [];
    const end = keeper.before(async () => ended.push(stored.length) > 0);
    await expect(end()).rejects.toBe(AWAY);
    expect(ended).toEqual([]);
    expect(await end()).toBe(true);
    expect({ stored, ended }).toEqual({ stored: [KEPT], ended: [1] });
  });

  test("keeps no execution from ending that can never be stored", async () => {
    const broken = new Error("the row is refused");
    const { stored, keeper } = createRefusing(broken, broken);
    await keeper.note(KEPT);
    expect(await keeper.before(END)()).toBe(true);
    expect(stored).toEqual([]);
  });
});

describe("on a worker", () => {
  let scene: DispatchScene;
  beforeEach(async () => {
    scene = await createDispatchScene();
  });
  afterEach(() => scene.close());

  const PROGRAM = "from platform_service import checkpoint, report\n";

  test("the last checkpoint is there with the end, also where the store was away before it", async () => {
    let away = 2;
    const store = {
      ...scene.store,
      noteProgress: async (claim: ClaimKey, update: ProgressUpdate) => {
        if (away-- > 0) throw AWAY;
        return await scene.store.noteProgress(claim, update);
      },
    };
    scene.createDispatcher({ store }).start();
    const id = await scene.start(
      `${PROGRAM}def run():\n    report(0.5, "half")\n    checkpoint({"n": 1})\n    raise KeyError(1)\n`,
    );
    await expect.poll(() => scene.statusOf(id), WITHIN).toBe("FAILED");
    expect((await scene.find(id)).progress).toMatchObject({ fraction: 0.5, message: "half" });
    const checkpoint = await scene.store.readCheckpoint(id, OWNER);
    expect(Buffer.from(checkpoint ?? []).toString()).toBe('{"n":1}');
  });

  test("nothing is stored of a run that reports nothing", async () => {
    const noted: string[] = [];
    const store = {
      ...scene.store,
      noteProgress: async ({ id }: ClaimKey) => noted.push(id) > 0,
    };
    scene.createDispatcher({ store }).start();
    const id = await scene.start("def run():\n    raise KeyError(1)\n");
    await expect.poll(() => scene.statusOf(id), WITHIN).toBe("FAILED");
    expect(noted).toEqual([]);
    expect(await scene.find(id)).not.toHaveProperty("progress");
  });
});
