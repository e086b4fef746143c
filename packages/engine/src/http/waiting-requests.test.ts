import type { AddressInfo } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { waitUntil } from "../testing/wait-until.ts";
import type { PlaceLimits } from "../executions/places.ts";
import { openServiceApiScene, SUCCESS } from "../testing/service-api-scene.ts";
import type { ServiceApiScene } from "../testing/service-api-scene.ts";

let scene: ServiceApiScene;
/** How many requests have taken a place, or found none. */
let asked: () => number;
afterEach(() => scene.close());

async function open(waitLimits: PlaceLimits): Promise<void> {
  scene = await openServiceApiScene({ waitLimits });
  const enter = vi.spyOn(scene.executions, "enterWait");
  asked = () => enter.mock.results.length;
}

const WAITED = "preference-applied";
const of = (owner: string) => ({ "x-owner": owner });

async function start(owner: string): Promise<string> {
  return (await scene.start({}, of(owner))).json<{ id: string }>().id;
}

const read = (owner: string, path: string, seconds = 60) =>
  scene.app.inject({ url: `/hosted/${path}`, headers: { ...of(owner), prefer: `wait=${seconds}` } });

/** Until so many have asked for a place in all. */
const awaitAsked = (count: number) => waitUntil(() => asked() === count);

test("beyond what an organisation may have waiting, state, result and start are answered at once, as to who polls; others wait on", async () => {
  await open({ perOrganisation: 2, total: 3 });
  const [hers, his] = [await start("alice"), await start("bob")];
  const waiting = [read("alice", hers), read("alice", `${hers}/result`)];
  await awaitAsked(2);
  const state = await read("alice", hers);
  expect([state.statusCode, state.headers[WAITED]]).toEqual([200, undefined]);
  expect(Number(state.headers["retry-after"])).toBeGreaterThan(0);
  const result = await read("alice", `${hers}/result`);
  expect([result.statusCode, result.headers[WAITED]]).toEqual([404, undefined]);
  expect(Number(result.headers["retry-after"])).toBeGreaterThan(0);
  const started = await scene.start({}, { ...of("alice"), prefer: "wait=60" });
  expect([started.statusCode, started.headers[WAITED]]).toEqual([201, undefined]);
  expect(started.json()).toMatchObject({ status: "PENDING" });

  // Of another organisation there is room for one, and then the process has as many as it may.
  waiting.push(read("bob", his));
  await awaitAsked(6);
  const third = await read("carol", await start("carol"));
  expect([third.statusCode, third.headers[WAITED]]).toEqual([200, undefined]);

  for (let count = 0; count < 2; count += 1) await scene.store.finish(await scene.claimOne(), SUCCESS);
  const answers = await Promise.all(waiting);
  expect(answers.map(({ headers }) => headers[WAITED])).toEqual(["wait=60", "wait=60", "wait=60"]);
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
  expect(answers[2]?.json()).toMatchObject({ id: his, status: "SUCCEEDED" });
  // Their places are free again.
  const later = await start("alice");
  expect((await read("alice", later, 1)).headers[WAITED]).toBe("wait=1");
});

test("a caller who goes away while it waits makes room", async () => {
  await open({ perOrganisation: 1, total: 1 });
  await scene.app.listen({ port: 0, host: "127.0.0.1" });
  const { port } = scene.app.server.address() as AddressInfo;
  const id = await start("alice");
  const leaving = new AbortController();
  const url = `http://127.0.0.1:${port}/hosted/${id}`;
  const gone = fetch(url, { headers: { prefer: "wait=60" }, signal: leaving.signal });
  await awaitAsked(1);
  expect((await read("alice", id)).headers[WAITED]).toBeUndefined();
  leaving.abort();
  await expect(gone).rejects.toThrow("aborted");
  await waitUntil(async () => (await read("alice", id, 1)).headers[WAITED] === "wait=1");
});

test("a caller who has gone away before it would wait takes no place", async () => {
  await open({ perOrganisation: 1, total: 1 });
  const closed = new Promise<void>((resolve) => {
    scene.app.server.once("connection", (socket) => socket.once("close", () => resolve()));
  });
  await scene.app.listen({ port: 0, host: "127.0.0.1" });
  const { port } = scene.app.server.address() as AddressInfo;
  const id = await start("alice");
  const leaving = new AbortController();
  const wait = vi.spyOn(scene.executions, "wait");
  const { start: startExecution } = scene.executions;
  vi.spyOn(scene.executions, "start").mockImplementationOnce(async (...given) => {
    leaving.abort();
    await closed;
    return await startExecution(...given);
  });
  const gone = fetch(`http://127.0.0.1:${port}/hosted/`, {
    method: "POST",
    headers: { prefer: "wait=60", "content-type": "application/json" },
    body: "{}",
    signal: leaving.signal,
  });
  await expect(gone).rejects.toThrow("aborted");
  await awaitAsked(1);
  await waitUntil(() => wait.mock.calls.length === 1);
  expect(wait.mock.calls[0]?.[3].aborted).toBe(true);
  await waitUntil(async () => (await read("alice", id, 1)).headers[WAITED] === "wait=1");
});
