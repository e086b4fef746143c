import { SUCCEEDED, createExecution, createLine, request } from "@platform/engine/testing/execution-fixtures";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createHistoryScene } from "../../testing/history-scene.ts";
import type { HistoryScene } from "../../testing/history-scene.ts";
import { readInput, readLines } from "./contents.ts";

let scene: HistoryScene;

beforeAll(async () => {
  scene = await createHistoryScene();
});
afterAll(() => scene?.close());

test("input is read by who started it alone, lines also by whose service it is, and neither by anybody else", async () => {
  const { home, store, foreign, service, subscriber, provider, stranger } = scene;
  const { organisationId } = subscriber;
  const owner = { kind: "subscription", id: foreign.subscriptionId, organisationId } as const;
  const execution = createExecution({ owner, versionId: service.versionId });
  await store.create(execution);
  const { claims } = await store.claim(request({ onlyId: execution.id }));
  for (const claim of claims) {
    await store.appendLog(claim, [createLine("secret")]);
    await store.finish(claim, SUCCEEDED);
  }
  const read = async (user: { readonly organisationId: string }) => {
    const key = { organisationId: user.organisationId, id: execution.id };
    const input = await readInput(home.database, key);
    const lines = [{ after: undefined }, { tail: 5 }].map((wish) => readLines(home.database, key, wish));
    const messages = (await Promise.all(lines)).map((page) => page.lines.map(({ message }) => message));
    return [input === null ? null : Buffer.from(input).toString(), ...messages];
  };
  expect(await read(subscriber)).toEqual([Buffer.from(execution.body).toString(), ["secret"], ["secret"]]);
  expect(await read(provider)).toEqual([null, ["secret"], ["secret"]]);
  expect(await read(stranger)).toEqual([null, [], []]);
});

test("the last lines are as many as asked for, also of a program that writes each of them alone", async () => {
  const { home, store, service, provider } = scene;
  const { organisationId } = provider;
  const owner = { kind: "organisation", id: organisationId, organisationId } as const;
  const execution = createExecution({ owner, versionId: service.versionId });
  await store.create(execution);
  const { claims } = await store.claim(request({ onlyId: execution.id }));
  for (const claim of claims) {
    for (let line = 0; line < 1_005; line += 1) await store.appendLog(claim, [createLine(`${line}`)]);
    await store.finish(claim, SUCCEEDED);
  }
  const page = await readLines(home.database, { organisationId, id: execution.id }, { tail: 1_003 });
  expect(page.lines).toHaveLength(1_003);
  expect(page.lines.map(({ message }) => message)).toEqual(
    Array.from({ length: 1_003 }, (_, index) => `${index + 2}`),
  );
});
