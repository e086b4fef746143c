import { readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runOk } from "../../clients/tools.ts";
import type { Locator } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { joinConsole } from "./support/open-console.ts";
import { openDatabase } from "./support/open-database.ts";
import { callIn } from "./support/people.ts";
import type { ConsoleWorld } from "./support/open-console.ts";

const PROGRAM = `
def run(data: dict[str, int]) -> int:
    """Adds up."""
    return sum(data.values())
`;
/** Its build takes a moment: it loads the module. */
const SLOW = `
import time

time.sleep(8)
${PROGRAM}`;
const ECHO = `
from typing import TypedDict


class Numbered(TypedDict):
    number: int


def run(data: Numbered) -> int:
    return data["number"]
`;
const DESCRIBED = JSON.stringify({
  name: "adding",
  runtime: "PYTHON_TEMPLATE",
  resources: { cpu: 0.25, memory: 0.25 },
  descriptionFile: "README.md",
});
const README = "# Adding\n\n<script>document.title = 'hijacked'</script>\n\n[more](javascript:alert(1))\n";

let world: ConsoleWorld;
beforeAll(async () => {
  world = await joinConsole();
});
afterAll(() => world.close());

/** Packs a project as its author would. */
async function compress(name: string, files: Readonly<Record<string, string>> = {}): Promise<string> {
  const project = await world.createProject(name, PROGRAM, files);
  const packed = await world.cli(project, "compress", "--json");
  expect(packed.code).toBe(0);
  return join(project, `${name}.zip`);
}

/** What is said of a field, to whoever cannot see what stands below it as well; null: it is not invalid. */
const readFault = (field: Locator) =>
  field.evaluate((element) => {
    if (element.getAttribute("aria-invalid") !== "true") return null;
    const ids = element.getAttribute("aria-describedby")?.split(" ") ?? [];
    return ids.map((id) => document.getElementById(id)?.textContent ?? "").join(" ");
  });

test("a ZIP file of platform compress becomes a live version, with its build log following", async () => {
  const { slug } = await world.createOrganisation("Building");
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}/services`);
  await page.getByText("No services yet").waitFor();
  await page.getByRole("link", { name: "New service" }).first().click();
  const files = { "platform.json": DESCRIBED, "README.md": README, "src/program.py": SLOW };
  const archive = await compress("adding", files);
  await page.getByLabel("ZIP file of the project").setInputFiles(archive);
  await page.getByText("adding", { exact: true }).waitFor();
  await page.getByText("It becomes version 1.0.0 of a new service.").waitFor();
  expect(await page.getByText("Raise the version's number by").count()).toBe(0);
  // Whoever presses twice creates one service, and is not told of a conflict.
  await page.getByRole("button", { name: /^Upload/u }).dblclick();
  await page.getByRole("heading", { level: 1, name: "adding 1.0.0" }).waitFor();
  const log = page.getByRole("log", { name: "Log of the build" });
  // Not only once it has ended.
  const running = page.getByRole("main").filter({ has: page.getByText("Running", { exact: true }) });
  await running
    .and(page.getByRole("main").filter({ has: log.getByText("Loading src/program.py") }))
    .waitFor();
  await page.getByText("Live: it accepts executions").waitFor();
  await page.getByRole("tab", { name: "Input and result" }).click();
  await page.getByRole("region", { name: "Result" }).getByText("integer").waitFor();

  // What comes next is on the page of the version that has become live.
  await page.getByRole("link", { name: "Try it" }).click();
  await page.getByRole("heading", { level: 1, name: "Try adding" }).waitFor();
  await page.goBack();

  await page.getByRole("link", { name: "adding", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "adding", exact: true }).waitFor();
  await page.getByRole("button", { name: "Publish" }).click();
  await page.getByRole("menuitem", { name: "For this organisation" }).click();
  await page.getByText("This organisation").waitFor();
  await page.getByRole("heading", { level: 2, name: "Adding" }).waitFor();
  expect(await page.title()).not.toContain("hijacked");
  expect(await page.locator("a[href^='javascript']").count()).toBe(0);

  await open(`/o/${slug}/services/new`);
  await page.getByLabel("ZIP file of the project").setInputFiles(archive);
  await page.getByText("Raise the version's number by").waitFor();
  await page.getByRole("button", { name: /^Upload/u }).click();
  await page.getByText("Nothing has changed: version 1.0.0 has this content.").waitFor();
  await page.getByRole("heading", { level: 1, name: "adding 1.0.0" }).waitFor();
  expect(complaints.filter((text) => !text.includes("404"))).toEqual([]);
});

test("a build that waits says how many come before it, and when there are fewer", async () => {
  const { id: organisation, slug } = await world.createOrganisation("Waiting builds");
  const { key } = await callIn<{ key: string }>(world, organisation, "POST", "/services", { name: "held" });
  const database = await openDatabase(world, (last) =>
    last.query("delete from build where service_key = $1", [key]),
  );
  // One that a builder holds: those of the same major number wait for it, as if no builder were free.
  await database.query(
    `insert into build (id, service_key, major, minor, patch, archive_hash, content_hash, is_forced, requested_by,
        status, attempt, worker_id, lease_until, started_at)
      select gen_random_uuid(), $1, 1, 0, i, '', '', false, '', case i when 0 then 'RUNNING' else 'PENDING' end, greatest(0, 1 - i),
        case i when 0 then 'held' end, case i when 0 then now() + interval '1 hour' end, case i when 0 then now() end
      from generate_series(0, 2) i`,
    [key],
  );
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}/services/${key}/versions/1.0.2`);
  await page.getByText("Waiting: 2 builds are before it.").waitFor();
  await database.query("delete from build where service_key = $1 and patch = 1", [key]);
  await page.getByText("Waiting: 1 build is before it.").waitFor();
  expect(complaints.filter((text) => !text.includes("404"))).toEqual([]);
});

test("an organisation without services starts with a sample: one press deploys it, and its example runs", async () => {
  const { slug } = await world.createOrganisation("Beginning");
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}/services`);
  await page.getByText("No services yet").waitFor();
  // Whoever presses twice gets one.
  await page.getByRole("button", { name: "Start with a sample" }).dblclick();
  await page.getByRole("heading", { level: 1, name: "sample 1.0.0" }).waitFor();
  await page.getByText("Live: it accepts executions").waitFor();
  await page.getByRole("link", { name: "Try it" }).click();
  await page.getByRole("button", { name: "Run" }).click();
  await page.getByText('"sum"').first().waitFor();
  await page.getByText("42").first().waitFor();
  await open(`/o/${slug}/services/new`);
  await page.getByRole("button", { name: "Start with a sample" }).click();
  await page.getByRole("heading", { level: 1, name: "sample-2 1.0.0" }).waitFor();
  await open(`/o/${slug}/services`);
  await page.getByText("2 rows").waitFor();
  expect(complaints.filter((text) => !text.includes("404"))).toEqual([]);
});

test("a service is tried with the example of its project, a wrong type is refused at its field, and no digit is lost, nor when its input is begun with again", async () => {
  const { page, open, complaints } = await world.visit();
  const { body: me } = await world.api<{ readonly organization: { readonly slug: string } }>("GET", "/me");
  const { slug } = me.organization;
  const project = await world.createProject("echoing", ECHO, {
    "input/data.json": '{"number": 1}',
    "input/params.json": "{}",
  });
  const { serviceKey } = await world.deploy(project);
  await open(`/o/${slug}/services/${serviceKey}`);
  await page.getByRole("link", { name: "Try it" }).click();
  const number = page.getByRole("textbox", { name: "number" });
  await expect.poll(() => number.inputValue()).toBe("1");
  await number.fill("one");
  await expect.poll(() => readFault(number)).toBe("A number is needed");
  await page.getByRole("button", { name: "Run" }).click();
  await expect.poll(() => readFault(number)).toBe("must be integer.");
  await number.fill("12345678901234567890");
  await page.getByText("JSON", { exact: true }).click();
  const input = page.getByRole("textbox", { name: "Input" });
  await expect.poll(() => input.inputValue()).toContain('"number": 12345678901234567890');
  await input.fill('{"data": {"number": "one"}}');
  await page.getByRole("button", { name: "Run" }).click();
  await expect.poll(() => readFault(input)).toContain("/data/number must be integer");
  await input.fill("{");
  expect(await page.getByRole("button", { name: "Run" }).isDisabled()).toBe(true);
  await input.fill('{"data": {"number": 12345678901234567890}}');
  await page.getByRole("tab", { name: "curl" }).click();
  await page.getByRole("region", { name: "curl command" }).getByText("12345678901234567890").waitFor();
  for (const language of ["Python", "JavaScript", "Java"]) {
    await page.getByRole("tab", { name: language, exact: true }).click();
    const program = page.getByRole("region", { name: `${language} program`, exact: true });
    await program.getByText("12345678901234567890").waitFor();
  }
  await page.getByRole("button", { name: "Run" }).click();
  await page.waitForURL(/\/executions\/[0-9a-f-]{36}/u);
  await page.getByText("12345678901234567890").first().waitFor();
  await page.getByRole("tab", { name: "Input" }).click();
  await page.getByRole("link", { name: "Edit and run" }).click();
  await expect.poll(() => number.inputValue()).toBe("12345678901234567890");
  expect(complaints.filter((text) => !text.includes("400"))).toEqual([]);
});

test(
  "an input that is too long for a program is saved beside it, byte by byte",
  { tags: "full" },
  async () => {
    const { page, open, complaints } = await world.visit();
    const { body: me } = await world.api<{ readonly organization: { readonly slug: string } }>("GET", "/me");
    const project = await world.createProject("lengthy", ECHO, { "input/data.json": '{"number": 1}' });
    const { serviceKey } = await world.deploy(project);
    await open(`/o/${me.organization.slug}/services/${serviceKey}/try`);
    await page.getByText("JSON", { exact: true }).click();
    const long = `{"data": {"number": 12345678901234567890, "text": "${"ä".repeat(30_000)}"}}`;
    await page.getByRole("textbox", { name: "Input" }).fill(long);
    await page.getByRole("tab", { name: "Java", exact: true }).click();
    await page
      .getByRole("region", { name: "Java program" })
      .getByText("Save the body as body.json")
      .waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save body.json" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("body.json");
    expect(await readFile(await download.path(), "utf8")).toBe(long);
    expect(complaints).toEqual([]);
  },
);

test(
  "a refusal of a part that has no field of its own is shown, and what is no JSON yet is not run without",
  { tags: "full" },
  async () => {
    const { page, open } = await world.visit();
    const { body: me } = await world.api<{ readonly organization: { readonly slug: string } }>("GET", "/me");
    const project = await world.createProject("summing", PROGRAM, { "input/data.json": '{"a": 1}' });
    const { serviceKey } = await world.deploy(project);
    await open(`/o/${me.organization.slug}/services/${serviceKey}/try`);
    const data = page.getByRole("textbox", { name: "data" });
    const run = page.getByRole("button", { name: "Run" });
    await data.fill('{"a": 2, "b": ');
    await page.getByText("This is no JSON yet").waitFor();
    await run.focus();
    await page.getByRole("tooltip").getByText("A field has a value that cannot be sent yet.").waitFor();
    await run.click({ force: true });
    await data.fill('{"a": 2, "b": "two"}');
    await run.click();
    await page.getByText("/data/b must be integer").waitFor();
    expect(await data.inputValue()).toBe('{"a": 2, "b": "two"}');
  },
);

test("an archive without platform.json is refused before anything is sent, and a broken build says why", async () => {
  const { slug } = await world.createOrganisation("Failing");
  const { page, open } = await world.visit();
  const sent: string[] = [];
  page.on("request", (one) => {
    if (one.method() !== "GET") sent.push(`${one.method()} ${one.url()}`);
  });
  await open(`/o/${slug}/services/new`);
  const input = page.getByLabel("ZIP file of the project");
  await input.setInputFiles({
    name: "x.zip",
    mimeType: "application/zip",
    buffer: Buffer.from("no archive"),
  });
  const refusal = page.getByRole("alert").filter({ hasText: "This is no ZIP file." });
  await refusal.getByText("This file cannot be uploaded").waitFor();

  const { body: configuration } = await world.api<{ limits: { archiveBytes: number } }>(
    "GET",
    "/configuration",
  );
  const large = join(world.directory, "large.zip");
  await writeFile(large, "");
  await truncate(large, configuration.limits.archiveBytes + 1);
  await input.setInputFiles(large);
  await page.getByText("; the platform takes 256 MB at most.").waitFor();
  const project = await world.createProject("nameless", PROGRAM);
  await runOk(["python3", "-m", "zipfile", "-c", "nameless.zip", "src"], { cwd: project });
  await input.setInputFiles(join(project, "nameless.zip"));
  await page.getByRole("alert").getByText("There is no platform.json at the top of the archive.").waitFor();
  expect(sent).toEqual([]);

  const archive = await compress("broken", { "requirements.txt": "no-such-package-of-anybody==1.0\n" });
  await input.setInputFiles({ name: "b.zip", mimeType: "application/zip", buffer: await readFile(archive) });
  await page.getByRole("button", { name: /^Upload/u }).click();
  await page.getByRole("alert").getByText("no-such-package-of-anybody").waitFor();
  await page.getByText("BUILD_FAILED", { exact: true }).waitFor();
  expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("broken 1.0.0");
});

test(
  "a file that is still being read when another one is chosen does not take its place",
  { tags: "full" },
  async () => {
    const { slug } = await world.createOrganisation("Choosing");
    const { page, open } = await world.visit();
    // A disk that is slow with one of them.
    await page.addInitScript(() => {
      const { value } = Object.getOwnPropertyDescriptor(Blob.prototype, "arrayBuffer") ?? {};
      const read = value as (this: Blob) => Promise<ArrayBuffer>;
      Object.assign(globalThis, { reads: [] });
      Blob.prototype.arrayBuffer = async function (this: Blob) {
        const { reads } = globalThis as unknown as { reads: string[] };
        const name = this instanceof File ? this.name : "";
        if (name === "slow.zip") await new Promise((resolve) => setTimeout(resolve, 1_000));
        reads.push(name);
        return read.call(this);
      };
    });
    await open(`/o/${slug}/services/new`);
    const input = page.getByLabel("ZIP file of the project");
    await input.setInputFiles({ name: "slow.zip", mimeType: "application/zip", buffer: Buffer.from("none") });
    await input.setInputFiles(await compress("quick"));
    await page.getByText("quick", { exact: true }).waitFor();
    await page.waitForFunction(() =>
      (globalThis as unknown as { reads: string[] }).reads.includes("slow.zip"),
    );
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 200)));
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(await page.getByRole("button", { name: /^Upload/u }).count()).toBe(1);
  },
);

test("a broken requirement shows the failing line and the fix, and the former version stays live", async () => {
  const project = await world.createProject("still-live", ECHO);
  const { serviceKey } = await world.deploy(project);
  await writeFile(join(project, "requirements.txt"), "no-such-package-of-anybody==1.0\n");
  expect((await world.cli(project, "up", "--json")).code).not.toBe(0);
  const me = await world.api<{ organization: { slug: string } }>("GET", "/me");
  const { page, open } = await world.visit();
  const path = `/o/${me.body.organization.slug}/services/${serviceKey}`;
  await open(`${path}?tab=builds`);
  const failed = page.getByRole("table", { name: "Builds" }).getByRole("row").filter({ hasText: "Failed" });
  await failed.getByRole("link").click();
  const alert = page.getByRole("alert");
  await alert.getByText("no-such-package-of-anybody==1.0").first().waitFor();
  await alert.getByText("What to do").waitFor();
  await open(path);
  await page.getByRole("link", { name: "1.0.0", exact: true }).first().waitFor();
  const started = await world.api<{ id: string }>("POST", `/jobs?serviceKey=${serviceKey}`, {
    data: { number: 1 },
  });
  const state = async () =>
    (await world.api<{ status: string }>("GET", `/executions/${started.body.id}`)).body.status;
  await expect.poll(state).toBe("SUCCEEDED");
});

test("a version shows what has changed since the one before, what of it breaks callers, and who they are", async () => {
  const project = await world.createProject("evolving", ECHO);
  const { serviceKey } = await world.deploy(project);
  const caller = await world.subscribe(serviceKey);
  await caller.finish((await caller.start({ data: { number: 4711 } })).body.id);
  const changed = ECHO.replace("    number: int\n", "    number: int\n    label: str\n");
  await writeFile(join(project, "src/program.py"), changed);
  await world.deploy(project, "--major");
  const me = await world.api<{ organization: { slug: string } }>("GET", "/me");
  const { page, open, complaints } = await world.visit();
  const path = `/o/${me.body.organization.slug}/services/${serviceKey}/versions`;
  await open(`${path}/2.0.0?tab=changes`);
  const alert = page.getByRole("alert").filter({ hasText: "It breaks callers of 1.0.0" });
  await alert.getByText("/data/label is now required").waitFor();
  await alert.getByText(/1 execution, the last on \d{4}-\d\d-\d\d$/u).waitFor();
  await page
    .getByRole("textbox", { name: "Schema of the input of the second" })
    .getByText("label")
    .first()
    .waitFor();
  await page.getByRole("region", { name: "Schema of the result" }).getByText("Both have the same.").waitFor();
  await open(`${path}/1.0.0?tab=changes`);
  await page.getByText("There is no version with a lower number.").waitFor();
  await page.getByRole("tab", { name: "Callers" }).click();
  const row = page.getByRole("table", { name: "Callers of 1.0.0" }).getByRole("row").nth(1);
  expect(await row.getByRole("cell").nth(2).textContent()).toContain("1");
  // What was sent is nowhere.
  expect(await page.locator("main").textContent()).not.toContain("4711");
  await open(`${path.replace("/versions", "")}?tab=versions`);
  const listed = page.getByRole("row").filter({ hasText: "Breaks 1.0.0" });
  await listed.getByText("/data/label is now required").waitFor();

  // Executions of both say what differs between them.
  const start = async (version: string) => {
    const query = `serviceKey=${serviceKey}&version=${version}`;
    const { body } = await world.api<{ id: string }>("POST", `/jobs?${query}`, {
      data: { number: 1, label: "one" },
    });
    return body.id;
  };
  const [first, second] = [await start("1.0.0"), await start("2.0.0")];
  await open(`/o/${me.body.organization.slug}/executions/compare?a=${first}&b=${second}`);
  await page.getByText("They are of different versions: evolving 1.0.0 and evolving 2.0.0.").waitFor();
  const versions = page.getByRole("region", { name: "Versions" });
  await versions
    .getByRole("textbox", { name: "Schema of the input of the second" })
    .getByText("label")
    .first()
    .waitFor();
  await versions.getByRole("region", { name: "Requirements" }).getByText("Both have the same.").waitFor();
  await open(`/o/${me.body.organization.slug}/executions/compare?a=${first}&b=${first}`);
  await page.getByText("Both are of evolving 1.0.0.").waitFor();
  expect(await versions.count()).toBe(0);
  expect(complaints).toEqual([]);
});
