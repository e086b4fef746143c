import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Claim } from "../store/execution-store.ts";
import { FAILED, SUCCEEDED, VANISHED } from "../testing/execution-fixtures.ts";
import { TIMESTAMP, openServiceApiScene } from "../testing/service-api-scene.ts";
import type { ServiceApiScene } from "../testing/service-api-scene.ts";

let scene: ServiceApiScene;
beforeEach(async () => {
  scene = await openServiceApiScene();
});
afterEach(() => scene.close());

const HALF = { progress: { fraction: 0.5, message: "half" }, checkpoint: null };
/** With a number that JavaScript has no room for, and an escape. */
const CHECKPOINT = String.raw`{"n":12345678901234567890,"s":"\ufffd"}`;
const KEPT = { progress: null, checkpoint: Buffer.from(CHECKPOINT) };

async function startRunning(): Promise<Claim> {
  await scene.start();
  return await scene.claimOne();
}

const read = (path: string, headers = {}) => scene.app.inject({ url: path, headers });

describe.each(["/hosted", "/jobs", ""])("at %s", (base) => {
  test("the state has what the code has reported, and its ETag changes with it", async () => {
    const { id, ...claim } = await startRunning();
    const silent = await read(`${base}/${id}`);
    expect(silent.json()).not.toHaveProperty("progress");
    await scene.store.noteProgress({ id, ...claim }, HALF);
    const etag = String(silent.headers["etag"]);
    const changed = await read(`${base}/${id}`, { "if-none-match": etag });
    expect(changed.statusCode).toBe(200);
    expect(changed.json()).toMatchObject({
      status: "RUNNING",
      progress: { fraction: 0.5, message: "half", at: expect.stringMatching(TIMESTAMP) },
    });
    expect(changed.json<{ progress: object }>().progress).not.toHaveProperty("checkpointAt");
    const known = { "if-none-match": String(changed.headers["etag"]) };
    expect((await read(`${base}/${id}`, known)).statusCode).toBe(304);
  });

  test("a run that has only made checkpoints has no fraction", async () => {
    const claim = await startRunning();
    await scene.store.noteProgress(claim, KEPT);
    const { progress } = (await read(`${base}/${claim.id}`)).json<{ progress: object }>();
    expect(Object.keys(progress)).toEqual(["at", "checkpointAt"]);
    expect((await read(`${base}/${claim.id}/result`)).json()).toMatchObject({ code: "RESULT_NOT_READY" });
  });

  test.each([FAILED, VANISHED])("$status: the result is the last checkpoint, as it came", async (outcome) => {
    const claim = await startRunning();
    await scene.store.noteProgress(claim, HALF);
    await scene.store.noteProgress(claim, KEPT);
    await scene.store.finish(claim, outcome);
    const response = await read(`${base}/${claim.id}/result`);
    expect(response.statusCode).toBe(200);
    const { status: _, ...failure } = outcome;
    expect(response.json()).toMatchObject({ ...failure, partial: true, _embedded: { status: {} } });
    expect(response.body).toContain(`"result":${CHECKPOINT},"_links"`);
    expect((await read(`${base}/${claim.id}`)).json()).toMatchObject({ progress: { fraction: 0.5 } });
  });

  test("without a checkpoint there is no partial result", async () => {
    const claim = await startRunning();
    await scene.store.noteProgress(claim, HALF);
    await scene.store.finish(claim, FAILED);
    const body = (await read(`${base}/${claim.id}/result`)).json<object>();
    expect(body).not.toHaveProperty("partial");
    expect(body).not.toHaveProperty("result");
  });

  test("a result supersedes what was kept before it", async () => {
    const claim = await startRunning();
    await scene.store.noteProgress(claim, KEPT);
    await scene.store.finish(claim, SUCCEEDED);
    const { body } = await read(`${base}/${claim.id}/result`);
    expect(body).toContain('"sum":3');
    expect(body).not.toContain("partial");
  });
});

test("nobody else sees what an execution has reported, or its checkpoint", async () => {
  const claim = await startRunning();
  await scene.store.noteProgress(claim, KEPT);
  await scene.store.finish(claim, FAILED);
  for (const path of [claim.id, `${claim.id}/result`])
    expect((await read(`/hosted/${path}`, { "x-owner": "bob" })).json()).toMatchObject({
      code: "EXECUTION_NOT_FOUND",
    });
});
