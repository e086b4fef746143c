import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { PoolFile } from "@platform/contract/platform-api/data-pools";
import { downloadFile } from "./download-file.ts";

const ID = "0198c1de-7a53-4000-8000-000000000001";
const CONTENT = "abc";
const SHA256 = createHash("sha256").update(CONTENT).digest("hex");
const PART = `.a.json.${SHA256.slice(0, 8)}.part`;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "platform-download-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A file of three bytes, as a server describes it. */
function describeFile(changes: Partial<PoolFile> = {}): PoolFile {
  return {
    fileId: ID,
    dataSourceDescriptorId: ID,
    name: "a.json",
    bytes: CONTENT.length,
    type: "application/json",
    sha256: SHA256,
    createdAt: "2026-11-23 10:00:00",
    createdBy: "ada",
    reference: { dataPoolId: ID, dataSourceDescriptorId: ID, fileId: ID },
    ...changes,
  };
}

/** Downloads to `a.json` from a server that answers so; gives the ranges that it was asked for. */
async function download(answer: () => Response, file = describeFile()) {
  const asked: (string | null)[] = [];
  const send = async (_path: string, { headers }: RequestInit) => {
    asked.push(new Headers(headers).get("range"));
    return answer();
  };
  const { signal } = new AbortController();
  const path = join(folder, "a.json");
  await downloadFile({ session: { send }, signal, onBytes: () => undefined }, ID, { file, path });
  return asked;
}

const answerAll = () => new Response(CONTENT);

test("a download ends with an error when more comes than the file has, and nothing of it stays", async () => {
  let pulled = 0;
  let isCancelled = false;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      pulled += 1;
      if (pulled > 1_000) controller.close();
      else controller.enqueue(new Uint8Array(2));
    },
    cancel: () => void (isCancelled = true),
  });
  await expect(download(() => new Response(endless))).rejects.toMatchObject({ code: "CHECKSUM_MISMATCH" });
  expect([isCancelled, pulled < 10]).toEqual([true, true]);
  expect(await readdir(folder)).toEqual([]);
});

test.each<Partial<PoolFile>>([
  { fileId: "/../../b" },
  { fileId: "../x" },
  { fileId: "" },
  { sha256: "/../../b" },
  { sha256: "" },
  { bytes: Number.NaN },
  { bytes: -1 },
  { bytes: Number.POSITIVE_INFINITY },
])("nothing is asked for or written when the server describes a file by %j", async (changes) => {
  const path = join(folder, "a.json");
  await mkdir(join(folder, ".a.json."));
  await writeFile(join(folder, "b.part"), "mine");
  let asked = 0;
  const send = async () => {
    asked += 1;
    return answerAll();
  };
  const receiver = { session: { send }, signal: new AbortController().signal, onBytes: () => undefined };
  await expect(downloadFile(receiver, ID, { file: describeFile(changes), path })).rejects.toMatchObject({
    code: "INVALID_ANSWER",
  });
  expect([asked, await readFile(join(folder, "b.part"), "utf8")]).toEqual([0, "mine"]);
  expect((await readdir(folder)).toSorted()).toEqual([".a.json.", "b.part"]);
});

test("a part that is a link is neither followed nor replaced", async () => {
  const target = join(folder, "precious");
  await writeFile(target, "p");
  await symlink(target, join(folder, PART));
  await expect(download(answerAll)).rejects.toMatchObject({
    code: "FILE_EXISTS",
    message: expect.stringContaining(PART),
  });
  expect(await readFile(target, "utf8")).toBe("p");
});

test("a link that comes while a server answers is not written through", async () => {
  const target = join(folder, "precious");
  const { signal } = new AbortController();
  const send = async () => {
    await writeFile(target, "p");
    await symlink(target, join(folder, PART));
    return answerAll();
  };
  const file = describeFile();
  await downloadFile({ session: { send }, signal, onBytes: () => undefined }, ID, {
    file,
    path: join(folder, "a.json"),
  });
  expect(await readFile(target, "utf8")).toBe("p");
  expect(await readFile(join(folder, "a.json"), "utf8")).toBe(CONTENT);
});

test("a part of an earlier download is gone on with, also where the range is left out of the answer", async () => {
  await writeFile(join(folder, PART), "ab");
  expect(await download(() => new Response("c", { status: 206 }))).toEqual(["bytes=2-"]);
  expect(await readFile(join(folder, "a.json"), "utf8")).toBe(CONTENT);
  await writeFile(join(folder, PART), "xy");
  expect(await download(answerAll)).toEqual(["bytes=2-"]);
  expect(await readFile(join(folder, "a.json"), "utf8")).toBe(CONTENT);
  expect(await readdir(folder)).toEqual(["a.json"]);
});

test("an empty file is downloaded", async () => {
  const sha256 = createHash("sha256").digest("hex");
  expect(await download(() => new Response(""), describeFile({ bytes: 0, sha256 }))).toEqual([null]);
  expect(await readFile(join(folder, "a.json"), "utf8")).toBe("");
});

test("a name that is as long as a file system takes is downloaded: its part has a shorter one", async () => {
  const path = join(folder, `${"ü".repeat(125)}.json`);
  const session = { send: () => Promise.resolve(answerAll()) };
  const receiver = { session, signal: new AbortController().signal, onBytes: () => undefined };
  await downloadFile(receiver, ID, { file: describeFile(), path });
  expect(await readFile(path, "utf8")).toBe(CONTENT);
});
