import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  createUrlStorage,
  forget,
  forgetTarget,
  listRemembered,
  noteSent,
  toFingerprint,
} from "./upload-memory.ts";
import type { UploadTarget } from "./upload-memory.ts";

const TARGET: UploadTarget = {
  userId: "u",
  organizationId: "o",
  poolId: "p",
  name: "map.bin",
  bytes: 9,
  modifiedAt: 1,
};

/** The part of the browser's storage that is used. */
function createStorage(): Pick<Storage, "getItem" | "setItem"> {
  const kept = new Map<string, string>();
  return { getItem: (name) => kept.get(name) ?? null, setItem: (name, value) => void kept.set(name, value) };
}

const find = (target: UploadTarget) =>
  createUrlStorage(target).findUploadsByFingerprint(toFingerprint(target));

function refuse(): never {
  throw new Error("refused");
}

beforeEach(() => vi.stubGlobal("localStorage", createStorage()));

async function begin(target: UploadTarget, uploadUrl = "https://example.org/api/uploads/1") {
  const fingerprint = toFingerprint(target);
  const previous = {
    size: target.bytes,
    metadata: {},
    creationTime: "",
    urlStorageKey: "",
    parallelUploadUrls: null,
  };
  return await createUrlStorage(target).addUpload(fingerprint, { ...previous, uploadUrl });
}

afterEach(() => void vi.unstubAllGlobals());

test("a file goes on where it was cut off, and a changed one, another name or another user's does not", async () => {
  await begin(TARGET);
  expect(await find(TARGET)).toMatchObject([{ uploadUrl: "https://example.org/api/uploads/1" }]);
  for (const other of [
    { modifiedAt: 2 },
    { bytes: 8 },
    { name: "other.bin" },
    { userId: "v" },
    { poolId: "q" },
  ])
    expect(await find({ ...TARGET, ...other })).toEqual([]);
});

test("a target is remembered once, with how much of it has arrived", async () => {
  await begin(TARGET);
  await begin(TARGET, "https://example.org/api/uploads/2");
  await begin({ ...TARGET, name: "other.bin" });
  noteSent(TARGET, 5);
  expect(listRemembered().map(({ url, sent, target }) => [target.name, url.slice(-1), sent])).toEqual([
    ["map.bin", "2", 5],
    ["other.bin", "1", 0],
  ]);
});

test("what has ended is forgotten, by its key or by its target", async () => {
  const key = await begin(TARGET);
  await begin({ ...TARGET, name: "other.bin" });
  forget(key);
  expect(listRemembered().map(({ target }) => target.name)).toEqual(["other.bin"]);
  forgetTarget({ ...TARGET, name: "other.bin" });
  expect(listRemembered()).toEqual([]);
});

test("the newest fifty are kept", async () => {
  for (let number = 0; number < 52; number += 1) await begin({ ...TARGET, name: `${number}` });
  const names = listRemembered().map(({ target }) => target.name);
  expect(names).toHaveLength(50);
  expect(names[0]).toBe("2");
});

test("what the browser holds and nobody can read is nothing", () => {
  const untold = '[{"key":"k","url":"/","sent":0,"target":null}]';
  for (const held of ["{", "null", '"x"', '[{"key":1}]', "[null]", untold]) {
    localStorage.setItem("platform.uploads", held);
    expect(listRemembered()).toEqual([]);
  }
});

test("a browser that keeps nothing is no error", async () => {
  vi.stubGlobal("localStorage", { getItem: refuse, setItem: refuse });
  await begin(TARGET);
  expect(listRemembered()).toEqual([]);
});
