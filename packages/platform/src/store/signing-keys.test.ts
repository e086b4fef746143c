import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestDatabase, withClockStep } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import { createSigningKeyStore } from "./signing-keys.ts";
import type { SigningKeyStore } from "./signing-keys.ts";

let home: TestDatabase;
let store: SigningKeyStore;

beforeEach(async () => {
  home = await createTestDatabase();
  store = createSigningKeyStore(home.database);
});
afterEach(() => home.close());

const createKey = (kid: string) => ({ kid, publicJwk: { kid }, privateJwkEncrypted: "sealed" });
const list = async () => (await store.list()).map(({ kid }) => kid);

async function passMinutes(minutes: number): Promise<void> {
  await home.database.query({
    text: `update signing_key set created_at = created_at - make_interval(mins => $1),
      retired_at = retired_at - make_interval(mins => $1)`,
    values: [minutes],
  });
}

test("processes that start at the same moment agree on the first signing key", async () => {
  const first = await Promise.all(["a", "b", "c", "d"].map((kid) => store.insertFirst(createKey(kid))));
  expect(new Set(first.map(({ kid }) => kid)).size).toBe(1);
  expect(await list()).toEqual([first[0]?.kid]);
});

test("a new signing key verifies at once, and signs when all had two minutes to read it; the former goes an hour later, or now", async () => {
  await store.insertFirst(createKey("first"));
  expect(await store.rotate(createKey("second"), 3_600)).toEqual(["first"]);
  expect(await list()).toEqual(["first", "second"]);
  await passMinutes(3);
  expect(await list()).toEqual(["second", "first"]);
  expect([...(await store.rotate(createKey("third"), 3_600))].toSorted()).toEqual(["first", "second"]);
  expect(await list()).toEqual(["second", "first", "third"]);
  await passMinutes(58);
  expect(await list()).toEqual(["third", "second"]);
  expect(await store.rotate(createKey("fourth"), 0)).toHaveLength(2);
  expect(await list()).toEqual(["fourth"]);
});

test("a key that was withdrawn stays so where the clock of the database's host is set back", async () => {
  await store.insertFirst(createKey("leaked"));
  await store.rotate(createKey("next"), 0);
  const setBack = createSigningKeyStore(withClockStep(home.database, () => "-1 hour"));
  expect((await setBack.list()).map(({ kid }) => kid)).toEqual(["next"]);
  expect(await setBack.rotate(createKey("last"), 0)).toEqual(["next"]);
});
