import { createHash } from "node:crypto";
import { lstat, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { fetchResultFiles, listResultFiles, writeResult } from "./result-files.ts";

let home: string;
let directory: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "platform-result-"));
  directory = join(home, "out");
  await mkdir(directory);
});
afterEach(() => rm(home, { recursive: true, force: true }));

const toDigest = (text: string) => `sha-256=:${createHash("sha256").update(text).digest("base64")}:`;

/** A server's answer to GET of a file; to HEAD it has no body. */
type Answer = () => Response;
const has = (text: string, digest = toDigest(text)) =>
  new Response(text, { headers: { "content-length": String(text.length), "repr-digest": digest } });
const refuse = (status: number, code: string) => () =>
  Response.json({ code, detail: `${code}.` }, { status });

/** Fetches the files of a server, and says what was asked for and shown. */
async function fetchFrom(server: Readonly<Record<string, Answer>>, force = false) {
  const asked: string[] = [];
  const shown: string[] = [];
  const send = async (path: string, { method = "" }: RequestInit) => {
    asked.push(`${method} ${path}`);
    const name = decodeURIComponent(path.split("/").at(-1) ?? "");
    const answer = (server[name] ?? refuse(404, "NOT_FOUND"))();
    return method === "HEAD"
      ? new Response(null, { status: answer.status, headers: answer.headers })
      : answer;
  };
  const show = (text: string) => void shown.push(text);
  const progress = { step: show, print: show, detail: () => undefined, stop: () => undefined };
  const { signal } = new AbortController();
  const fetching = { session: { send }, signal, progress, jobId: "job/1", directory, force };
  return { asked, shown, done: fetchResultFiles(fetching, Object.keys(server)) };
}

test("each file comes into the folder under its name, and one that is there already is not asked for again", async () => {
  const server = { "a b.csv": () => has("1,2"), "what: is it?": () => has("x"), empty: () => has("") };
  const first = await fetchFrom(server);
  expect(await first.done).toMatchObject({
    files: [
      { name: "a b.csv", path: join(directory, "a b.csv"), bytes: 3, written: true },
      { name: "what: is it?", path: join(directory, "what_ is it_"), written: true },
      { name: "empty", bytes: 0, written: true },
    ],
    failed: [],
  });
  expect(first.asked.slice(0, 2)).toEqual([
    "HEAD /jobs/job%2F1/result/a%20b.csv",
    "GET /jobs/job%2F1/result/a%20b.csv",
  ]);
  expect((await readdir(directory)).toSorted()).toEqual(["a b.csv", "empty", "what_ is it_"]);
  const again = await fetchFrom(server);
  expect((await again.done).files.map(({ written }) => written)).toEqual([false, false, false]);
  expect(again.asked.filter((each) => each.startsWith("GET"))).toEqual([]);
});

test("what is wrong with one file is said, and keeps no other", async () => {
  await writeFile(join(directory, "mine"), "precious");
  await mkdir(join(directory, "folder"));
  await writeFile(join(home, "target"), "precious");
  await symlink(join(home, "target"), join(directory, "link"));
  const { done } = await fetchFrom({
    mine: () => has("theirs"),
    folder: () => has("theirs"),
    link: () => has("precious"),
    gone: refuse(404, "NOT_FOUND"),
    other: () => has("abc", toDigest("abd")),
    unnamed: () => has("abc", ""),
    "x?": () => has("1"),
    x_: () => has("2"),
    last: () => has("last"),
  });
  const { files, failed } = await done;
  expect(files.map(({ name }) => name)).toEqual(["x?", "last"]);
  expect(failed.map(({ name, code }) => [name, code])).toEqual([
    ["mine", "FILE_EXISTS"],
    ["folder", "FILE_EXISTS"],
    ["link", "FILE_EXISTS"],
    ["gone", "NOT_FOUND"],
    ["other", "CHECKSUM_MISMATCH"],
    ["unnamed", "INVALID_ANSWER"],
    ["x_", "FILE_EXISTS"],
  ]);
  expect(await readFile(join(directory, "mine"), "utf8")).toBe("precious");
  expect((await readdir(directory)).toSorted()).toEqual(["folder", "last", "link", "mine", "x_"]);
});

test("force replaces files, and links by themselves, but no folder", async () => {
  await writeFile(join(directory, "mine"), "old");
  await mkdir(join(directory, "folder"));
  await writeFile(join(home, "target"), "precious");
  await symlink(join(home, "target"), join(directory, "link"));
  const { done } = await fetchFrom(
    { mine: () => has("new"), folder: () => has("new"), link: () => has("new") },
    true,
  );
  expect((await done).failed.map(({ name }) => name)).toEqual(["folder"]);
  expect(await readFile(join(directory, "mine"), "utf8")).toBe("new");
  expect((await lstat(join(directory, "link"))).isFile()).toBe(true);
  expect(await readFile(join(home, "target"), "utf8")).toBe("precious");
});

test.each(["..", ".", "../x", "a/b", "a\\b", "/etc/x", "a\u0000", "a\u202eb", "a".repeat(300)])(
  "the name %j of a server is neither asked for nor written",
  async (name) => {
    const { asked, done } = await fetchFrom({ [name]: () => has("x") });
    expect((await done).failed).toMatchObject([{ name, code: "INVALID_FILE_NAME" }]);
    expect(asked).toEqual([]);
    expect([await readdir(directory), await readdir(home)]).toEqual([[], ["out"]]);
  },
);

test("a result that expires in between ends it with that, and says how far it came", async () => {
  const { done, shown, asked } = await fetchFrom({
    first: () => has("1"),
    second: refuse(410, "RESULT_EXPIRED"),
    third: () => has("3"),
  });
  await expect(done).rejects.toMatchObject({ status: 410, problem: { code: "RESULT_EXPIRED" } });
  expect(shown.at(-1)).toBe("1 of 3 files are there; stopped at second.");
  expect(asked.some((each) => each.endsWith("third"))).toBe(false);
});

test("the links of a result but its own are its files", () => {
  const link = { href: "/" };
  const links = { self: link, status: link, b: link, a: link };
  expect(listResultFiles({ _links: links })).toEqual(["a", "b"]);
});

test("the result is written at once, again only by force, and nothing else is left", async () => {
  const path = join(directory, "result.json");
  await writeResult(path, "{}\n", false);
  await writeResult(path, "{}\n", false);
  await expect(writeResult(path, "[]\n", false)).rejects.toMatchObject({ code: "FILE_EXISTS" });
  expect(await readFile(path, "utf8")).toBe("{}\n");
  await writeResult(path, "[]\n", true);
  expect(await readFile(path, "utf8")).toBe("[]\n");
  expect(await readdir(directory)).toEqual(["result.json"]);
});
