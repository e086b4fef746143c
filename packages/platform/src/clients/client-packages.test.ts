import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { createDeferred } from "@platform/engine/base/deferred";
import { createClientPackages } from "./client-packages.ts";
import type { ClientVersion } from "./create-client.ts";

const createVersion = (service: string): ClientVersion => ({
  serviceKey: randomUUID(),
  service,
  version: "1.0.0",
  inputSchema: {
    type: "object",
    properties: { data: { type: "object", properties: { a: { type: "integer" } } } },
  },
  outputSchema: null,
  exampleInput: null,
});
const createAsker = () => ({ organisationId: randomUUID(), userId: randomUUID() });

/** Models that are not there until the test says so. */
function open() {
  const turns: { readonly end: () => void }[] = [];
  const packages = createClientPackages("https://gateway.example", async () => {
    const { promise, resolve } = createDeferred<null>();
    turns.push({ end: () => resolve(null) });
    return await promise;
  });
  return { packages, turns };
}

test("organisations take turns: what one wants many of does not keep another one waiting", async () => {
  const { packages, turns } = open();
  const [greedy, other] = [createAsker(), createAsker()];
  const done: string[] = [];
  const get = async (asker: typeof greedy, name: string) => {
    await packages.getClient(asker, createVersion(name), "python");
    done.push(name);
  };
  const all = ["a", "b", "c"].map(async (name) => await get(greedy, name)).concat(get(other, "other"));
  for (let count = 1; count <= 4; count++) {
    await expect.poll(() => turns.length).toBe(count);
    turns.at(-1)?.end();
  }
  await Promise.all(all);
  expect(done).toEqual(["a", "other", "b", "c"]);
});

test("whoever waits for many is refused, and what is there is given meanwhile", async () => {
  const { packages, turns } = open();
  const asker = createAsker();
  const known = createVersion("known");
  const first = packages.getClient(asker, known, "java");
  await expect.poll(() => turns.length).toBe(1);
  turns[0]?.end();
  const { hash } = await first;
  const waiting = Array.from(
    { length: 7 },
    async () => await packages.getClient(asker, createVersion("x"), "java"),
  );
  await expect(packages.getClient(asker, createVersion("y"), "java")).rejects.toMatchObject({
    code: "RATE_LIMITED",
  });
  expect(await packages.getClient(asker, known, "java")).toMatchObject({ hash });
  for (let count = 2; count <= 8; count++) {
    await expect.poll(() => turns.length).toBe(count);
    turns.at(-1)?.end();
  }
  await Promise.all(waiting);
});
