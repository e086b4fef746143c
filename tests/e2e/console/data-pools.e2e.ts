import { createHash, randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { env } from "node:process";
import { pipeline } from "node:stream/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Page, Route } from "playwright-core";
import { findBarriers, findCutText } from "./support/axe.ts";
import { WIDTHS } from "./support/browser.ts";
import { callIn } from "./support/people.ts";
import { joinConsole } from "./support/open-console.ts";
import { openDatabase } from "./support/open-database.ts";
import type { ConsoleWorld } from "./support/open-console.ts";

const MEGABYTE = 1_024 * 1_024;
/** Size of the uploaded file; `npm run test:upload` takes the one that people are promised. */
const FILE_MEGABYTES = Number(env["PLATFORM_TEST_UPLOAD_MEGABYTES"] ?? 20);
const PART = 8 * MEGABYTE;
const PROGRAM = `
def run(data, params):
    return {"letters": len(data["pad"])}
`;
const HOSTILE = `<img src=x onerror="document.title='run'">.csv`;

let world: ConsoleWorld;
beforeAll(async () => {
  world = await joinConsole();
});
afterAll(() => world.close());

interface PoolFile {
  readonly fileId: string;
  readonly name: string;
  readonly bytes: number;
  readonly reference: Readonly<Record<string, string>>;
}

async function createPool(organisation: string, name: string): Promise<string> {
  const { id } = await callIn<{ id: string }>(world, organisation, "POST", "/data-pools", { name });
  return id;
}

async function listFiles(organisation: string, pool: string): Promise<readonly PoolFile[]> {
  const { items } = await callIn<{ items: PoolFile[] }>(
    world,
    organisation,
    "GET",
    `/data-pools/${pool}/files`,
  );
  return items;
}

/** A file of this size, one JSON object. Answers its text between the quotes. */
async function writeObject(path: string, bytes: number): Promise<string> {
  const [before, after] = ['{"pad": "', '"}'];
  const pad = randomBytes(bytes)
    .toString("base64")
    .slice(0, bytes - before.length - after.length);
  await writeFile(path, `${before}${pad}${after}`);
  return pad;
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

/** Which parts of uploads were sent, by their offsets; the given ones never arrive, as often as they are said to. */
async function cutParts(page: Page, cuts: Readonly<Record<string, number>>): Promise<readonly string[]> {
  const sent: string[] = [];
  const left = new Map(Object.entries(cuts));
  await page.route("**/api/uploads/*", async (route: Route) => {
    const offset = route.request().headers()["upload-offset"];
    if (route.request().method() !== "PATCH" || offset === undefined) return route.continue();
    sent.push(offset);
    const times = left.get(offset) ?? 0;
    left.set(offset, times - 1);
    return times > 0 ? route.abort("connectionreset") : route.continue();
  });
  return sent;
}

/** Puts so many files beside the one that the pool has, without uploading each. */
async function multiplyFile(pool: string, count: number): Promise<void> {
  const database = await openDatabase(world);
  await database.query(
    `insert into pool_file (id, pool_id, organisation_id, descriptor_id, name, name_key, media_type, hash, bytes, created_by)
      select gen_random_uuid(), pool_id, organisation_id, gen_random_uuid(), n.name, n.name, media_type, hash, bytes, created_by
      from pool_file cross join lateral (select 'day-' || lpad(i::text, 4, '0') || '.json' as name from generate_series(1, $2::int) i) n
      where pool_id = $1`,
    [pool, count],
  );
}

test("a file is uploaded through a cut connection and a reload, downloaded past the page, and starts an execution by its Copy Text, and where it is chosen from the pool", async () => {
  const me = await world.api<{ organization: { id: string; slug: string } }>("GET", "/me");
  const { id: organisation, slug } = me.body.organization;
  // The text, its bytes and its value are in memory at one time.
  const memory = Math.ceil(FILE_MEGABYTES / 32) / 4;
  const project = await world.createProject("measure", PROGRAM, {
    "platform.json": JSON.stringify({
      name: "measure",
      runtime: "PYTHON_TEMPLATE",
      resources: { cpu: 0.25, memory },
    }),
  });
  const { serviceKey } = await world.deploy(project);
  const { page, open } = await world.visit();
  await open(`/o/${slug}/data-pools`);
  await page.getByText("No data pools yet").waitFor();
  await page.getByRole("button", { name: "New data pool" }).first().click();
  await page.getByLabel("Name").fill("Maps");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { level: 1, name: "Maps" }).waitFor();
  const pool = new URL(page.url()).pathname.split("/").at(-1) ?? "";

  const path = join(world.directory, "germany.json");
  const pad = await writeObject(path, FILE_MEGABYTES * MEGABYTE);
  // The second part is cut twice and arrives; the third never does while this page is open.
  const sent = await cutParts(page, { [PART]: 2, [2 * PART]: Infinity });
  await page.getByLabel("Files for the data pool").setInputFiles(path);
  await page.getByText("The connection is interrupted; trying again").waitFor();
  await expect.poll(() => sent.filter((offset) => offset === String(2 * PART)).length).toBeGreaterThan(1);
  await page.reload();
  await page.getByText("Interrupted: choose the same file to go on").waitFor();
  await page.getByText(`16 MB of ${FILE_MEGABYTES} MB`).waitFor();
  await page.unroute("**/api/uploads/*");
  const sentLater = await cutParts(page, {});
  await page.getByLabel("The file germany.json again").setInputFiles(path);
  const row = page.getByRole("row").filter({ hasText: "germany.json" });
  await row.waitFor();
  expect(sentLater[0]).toBe(String(2 * PART));
  await page.getByRole("list", { name: "Uploads" }).waitFor({ state: "detached" });

  const [file] = await listFiles(organisation, pool);
  expect(file).toMatchObject({ name: "germany.json", bytes: FILE_MEGABYTES * MEGABYTE });
  // Whoever wants to know that it arrived whole compares this with what `sha256sum` says.
  const sha256 = await hashFile(path);
  await row.getByText(`SHA-256 ${sha256.slice(0, 12)}`).waitFor();
  await row.getByRole("button", { name: "Copy SHA-256 of germany.json" }).click();
  await row.getByRole("button", { name: "Copied SHA-256 of germany.json" }).waitFor();
  await page.getByRole("searchbox", { name: "Name contains" }).press("ControlOrMeta+V");
  await expect.poll(() => page.getByRole("searchbox", { name: "Name contains" }).inputValue()).toBe(sha256);
  await page.getByRole("searchbox", { name: "Name contains" }).fill("");
  await row.getByRole("button", { name: "Copy Text of germany.json" }).click();
  await page.getByRole("button", { name: "Copied Text of germany.json" }).waitFor();

  const held: string[] = [];
  page.on("request", (request) => {
    if (request.method() === "GET" && ["fetch", "xhr"].includes(request.resourceType()))
      held.push(request.url());
  });
  const downloading = page.waitForEvent("download");
  await row.getByRole("button", { name: "Download" }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toBe("germany.json");
  expect(await hashFile(await download.path())).toBe(sha256);
  expect(held.filter((url) => url.includes("/content"))).toEqual([]);

  await open(`/o/${slug}/services/${serviceKey}/try`);
  const input = page.getByRole("textbox", { name: "Input" });
  await input.fill('{"dataRef": }');
  await input.press("End");
  await input.press("ArrowLeft");
  // Pages may not read the clipboard, so it is pasted.
  await input.press("ControlOrMeta+V");
  expect(JSON.parse(await input.inputValue())).toEqual({ dataRef: file?.reference });
  const runAndRead = async () => {
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await expect
      .poll(() => page.getByRole("textbox", { name: "Result" }).textContent())
      .toContain(`"letters": ${pad.length}`);
  };
  await runAndRead();

  // It is past the first page now.
  await multiplyFile(pool, 101);
  await open(`/o/${slug}/services/${serviceKey}/try`);
  await page.getByRole("button", { name: "Example again" }).click();
  await page.getByRole("button", { name: "Use a file of a data pool" }).click();
  const dialog = page.getByRole("dialog", { name: "Use a file of a data pool" });
  await dialog.getByText("The first 100 files by name").waitFor();
  await dialog.getByRole("searchbox", { name: "Name contains" }).fill("nowhere");
  await dialog.getByText("No file of it has this in its name").waitFor();
  await dialog.getByRole("searchbox", { name: "Name contains" }).fill("GERM");
  await dialog.getByLabel("File", { exact: true }).selectOption(file?.fileId ?? "");
  await dialog.getByRole("button", { name: "Use it" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(JSON.parse(await input.inputValue())).toEqual({ params: {}, dataRef: file?.reference });
  await runAndRead();
});

test("files are found by a part of their names, also past what is shown at first, and by an address", async () => {
  const { id: organisation, slug } = await world.createOrganisation("Many files");
  const pool = await createPool(organisation, "Days");
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}/data-pools/${pool}`);
  await page
    .getByLabel("Files for the data pool")
    .setInputFiles({ name: "Zürich.json", mimeType: "application/json", buffer: Buffer.from("{}") });
  await page.getByRole("cell").getByText("Zürich.json").waitFor();
  await multiplyFile(pool, 101);

  await open(`/o/${slug}/data-pools/${pool}`);
  await page.getByRole("cell").getByText("day-0001.json").waitFor();
  expect(await page.getByText("Zürich.json").count()).toBe(0);
  const field = page.getByRole("searchbox", { name: "Name contains" });
  await field.fill("ZÜRICH");
  await page.getByRole("cell").getByText("Zürich.json").waitFor();
  await page.getByText("day-0001.json").waitFor({ state: "detached" });
  await page.reload();
  await page.getByRole("cell").getByText("Zürich.json").waitFor();
  expect(await page.getByText("day-0001.json").count()).toBe(0);
  await field.fill("nowhere");
  await page.getByRole("heading", { name: "No file matches" }).waitFor();
  expect(await page.getByText("No files yet").count()).toBe(0);

  expect(complaints).toEqual([]);
});

test(
  "an upload is paused and goes on, is given up at the platform too, and another file does not go on with it",
  { tags: "full" },
  async () => {
    const { id: organisation, slug } = await world.createOrganisation("Pausing");
    const pool = await createPool(organisation, "Held");
    const { page, open } = await world.visit();
    await open(`/o/${slug}/data-pools/${pool}`);
    const path = join(world.directory, "held.bin");
    await writeFile(path, randomBytes(9 * MEGABYTE));
    const input = page.getByLabel("Files for the data pool");
    const sent = await cutParts(page, { [8 * MEGABYTE]: Infinity });
    await input.setInputFiles(path);
    const uploads = page.getByRole("list", { name: "Uploads" });
    await expect.poll(() => sent.length).toBeGreaterThan(2);
    await uploads.getByRole("button", { name: "Pause" }).click();
    await uploads.getByText("Paused").waitFor();
    await page.unroute("**/api/uploads/*");
    await uploads.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("row").filter({ hasText: "held.bin" }).waitFor();
    await uploads.waitFor({ state: "detached" });

    await cutParts(page, { [8 * MEGABYTE]: Infinity });
    const next = join(world.directory, "next.bin");
    await writeFile(next, randomBytes(10 * MEGABYTE));
    await input.setInputFiles(next);
    await page.getByText("The connection is interrupted; trying again").waitFor();
    await page.reload();
    await writeFile(next, randomBytes(11 * MEGABYTE));
    await page.getByLabel("The file next.bin again").setInputFiles(next);
    await page.getByRole("alert").getByText("This is not next.bin as it was").waitFor();
    const removed = page.waitForResponse((response) => response.request().method() === "DELETE");
    await uploads.getByRole("button", { name: "Give up" }).click();
    expect((await removed).status()).toBe(204);
    await uploads.waitFor({ state: "detached" });
    expect((await listFiles(organisation, pool)).map(({ name }) => name)).toEqual(["held.bin"]);
  },
);

test("a hostile file name shows as text, a file is renamed and deleted, and a pool goes only with its name typed", async () => {
  const { id: organisation, slug } = await world.createOrganisation("Hostile files");
  const pool = await createPool(organisation, "Strange");
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}/data-pools/${pool}`);
  await page
    .getByLabel("Files for the data pool")
    .setInputFiles({ name: HOSTILE, mimeType: "text/html", buffer: Buffer.from("<script>") });
  await page.getByRole("cell").getByText(HOSTILE, { exact: true }).waitFor();
  expect(await page.locator("img").count()).toBe(0);

  // A name that can be in no pool is refused each time: there is nothing to go on with.
  const nowhere = { name: "x".repeat(201), mimeType: "text/csv", buffer: Buffer.from("a;b") };
  await page.getByLabel("Files for the data pool").setInputFiles(nowhere);
  const uploads = page.getByRole("list", { name: "Uploads" });
  await uploads.getByRole("alert").getByText("A file name has at most 200 characters").waitFor();
  expect(await uploads.getByRole("button").allTextContents()).toEqual(["Give up"]);
  await uploads.getByRole("button", { name: "Give up" }).click();
  await uploads.waitFor({ state: "detached" });

  await page.getByRole("button", { name: "Rename" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("a/b");
  await dialog.getByRole("button", { name: "Rename" }).click();
  await dialog.getByText("a data pool has no folders").waitFor();
  await dialog.getByLabel("Name").fill("plain.csv");
  await dialog.getByRole("button", { name: "Rename" }).click();
  await page.getByRole("cell").getByText("plain.csv", { exact: true }).waitFor();
  expect((await listFiles(organisation, pool)).map(({ name }) => name)).toEqual(["plain.csv"]);

  await page.getByRole("row").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("No files yet").waitFor();
  await page.getByRole("button", { name: "Delete" }).click();
  const confirm = page.getByRole("dialog").getByRole("button", { name: "Delete" });
  expect(await confirm.isDisabled()).toBe(true);
  await page.getByRole("dialog").getByLabel('Type "Strange" to go on').fill("Strange");
  await confirm.click();
  await page.getByText("No data pools yet").waitFor();
  expect(await page.title()).not.toBe("run");
  // The name with a slash was meant to be refused.
  expect(complaints.filter((text) => !text.includes("400"))).toEqual([]);
});

test("an application gets access and loses it, and a pool is shared with an organisation that reads it alone and leaves it", async () => {
  const { id: organisation, slug } = await world.createOrganisation("Giving");
  const reader = await world.createOrganisation("Reading");
  const pool = await createPool(organisation, "Given");
  await callIn(world, organisation, "POST", "/applications", { name: "nightly" });
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}/data-pools/${pool}?tab=access`);
  await page.getByRole("button", { name: "Let an application use it" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Grant" }).click();
  const granted = page.getByRole("row").filter({ hasText: "nightly" });
  await granted.getByText("read", { exact: true }).waitFor();
  await granted.getByRole("button", { name: "Withdraw" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Withdraw" }).click();
  await page.getByText("No application may use it").waitFor();

  await page.getByRole("button", { name: "Share with an organisation" }).click();
  await page.getByLabel("Identifier of the organisation").fill(reader.id);
  await page.getByRole("dialog").getByRole("button", { name: "Share" }).click();
  await page.getByRole("row").filter({ hasText: "Reading" }).getByText("read files").waitFor();

  await open(`/o/${reader.slug}/data-pools/${pool}`);
  await page.getByText("shared by Giving").waitFor();
  expect(await page.getByLabel("Files for the data pool").count()).toBe(0);
  expect(await page.getByRole("button", { name: "Delete" }).count()).toBe(0);
  await page.getByRole("tab", { name: "Access" }).click();
  await page.getByRole("row").filter({ hasText: "Reading" }).getByRole("button", { name: "Leave" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Leave" }).click();
  await page.getByText("No data pools yet").waitFor();
  expect(new URL(page.url()).pathname).toBe(`/o/${reader.slug}/data-pools`);
  expect(complaints).toEqual([]);
});

test(
  "uploads that wait, and files below them, pass axe, and nothing of them is cut",
  { tags: "full" },
  async () => {
    const { id: organisation, slug } = await world.createOrganisation("Seen");
    const pool = await createPool(organisation, "a-very-long-name-of-a-data-pool-that-goes-on-and-on-and-on");
    const { page, open, complaints } = await world.visit();
    await open(`/o/${slug}/data-pools/${pool}`);
    await cutParts(page, { 0: Infinity });
    const input = page.getByLabel("Files for the data pool");
    await input.setInputFiles({ name: "waiting.bin", mimeType: "", buffer: Buffer.alloc(9) });
    await page.getByText("The connection is interrupted; trying again").waitFor();
    await page.unroute("**/api/uploads/*");
    await input.setInputFiles({
      name: "berlin52.json",
      mimeType: "application/json",
      buffer: Buffer.from("{}"),
    });
    await page.getByRole("cell").getByText("berlin52.json").waitFor();
    const found = [...(await findBarriers(page)), ...(await findCutText(page))];
    await page.emulateMedia({ colorScheme: "dark" });
    await page.setViewportSize({ width: WIDTHS.narrow, height: 900 });
    found.push(...(await findBarriers(page)), ...(await findCutText(page)));
    expect([...found, ...complaints.filter((text) => !text.includes("ERR_CONNECTION"))]).toEqual([]);
  },
);
