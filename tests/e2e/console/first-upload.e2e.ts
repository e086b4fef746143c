import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runOk } from "../../clients/tools.ts";
import { joinConsole } from "./support/open-console.ts";
import type { ConsoleWorld } from "./support/open-console.ts";
import { callIn } from "./support/people.ts";

const PROGRAM = "def run(data: dict[str, int]) -> int:\n    return sum(data.values())\n";

interface Services {
  readonly items: readonly { readonly key: string; readonly latestVersion: string | null }[];
}

let world: ConsoleWorld;
beforeAll(async () => {
  world = await joinConsole();
});
afterAll(() => world?.close());

async function compress(name: string): Promise<string> {
  const project = await world.createProject(name, PROGRAM);
  expect((await world.cli(project, "compress", "--json")).code).toBe(0);
  return join(project, `${name}.zip`);
}

test("a first upload that is refused leaves no service, and the next one makes it", async () => {
  const { slug } = await world.createOrganisation("Refused");
  const { page, open } = await world.visit();
  await open(`/o/${slug}/services/new`);
  const archive = await compress("second-try");
  const project = await world.createProject("faulty", PROGRAM);
  await writeFile(join(project, "platform.json"), JSON.stringify({ name: "second-try", runtime: "NONE" }));
  await runOk(["python3", "-m", "zipfile", "-c", "faulty.zip", "src", "platform.json"], { cwd: project });
  const input = page.getByLabel("ZIP file of the project");
  const held: (() => void)[] = [];
  await page.route(/\/services\/[^/]+$/u, async (route) => {
    if (route.request().method() === "DELETE") await new Promise<void>((resolve) => held.push(resolve));
    return route.continue();
  });
  await input.setInputFiles(join(project, "faulty.zip"));
  await page.getByRole("button", { name: /^Upload/u }).click();
  // Said before the service is gone.
  await page.getByText("INVALID_PROJECT", { exact: true }).waitFor();
  await expect.poll(() => held.length).toBe(1);
  held.pop()?.();
  await page.getByRole("link", { name: "Services" }).first().click();
  await expect.poll(() => page.getByText("No services yet").count()).toBe(1);
  await open(`/o/${slug}/services/new`);
  await input.setInputFiles(archive);
  await page.getByRole("button", { name: /^Upload/u }).click();
  await page.getByRole("heading", { level: 1, name: "second-try 1.0.0" }).waitFor();
});

test("a first upload that fails for now keeps its service, and one whose service is removed meanwhile makes it anew", async () => {
  const { id, slug } = await world.createOrganisation("Busy");
  const { page, open } = await world.visit();
  await open(`/o/${slug}/services/new`);
  const listServices = async () => (await callIn<Services>(world, id, "GET", "/services")).items;
  await page.route(/\/versions\?/u, (route) =>
    route.fulfill({ status: 503, json: { code: "UNAVAILABLE", detail: "Later." } }),
  );
  await page.getByLabel("ZIP file of the project").setInputFiles(await compress("busy"));
  const upload = page.getByRole("button", { name: /^Upload/u });
  await upload.click();
  await page.getByText("Later.").waitFor();
  const [made] = await listServices();
  expect(made).toBeDefined();
  await page.getByText("From its second version on; the first one is 1.0.0").waitFor();
  await page.unrouteAll();
  await page.route(/\/versions\?/u, async (route) => {
    if (
      route
        .request()
        .url()
        .includes(made?.key ?? "")
    )
      await callIn(world, id, "DELETE", `/services/${made?.key}`);
    return route.continue();
  });
  await upload.click();
  await page.getByRole("heading", { level: 1, name: "busy 1.0.0" }).waitFor();
  expect((await listServices()).map(({ key }) => key === made?.key)).toEqual([false]);
});

test("a sample that could not be sent goes on with its service; one that was retired stays retired", async () => {
  const { id, slug } = await world.createOrganisation("Sampling");
  const { page, open } = await world.visit();
  await open(`/o/${slug}/services/new`);
  await page.route(/\/versions\?/u, (route) =>
    route.fulfill({ status: 503, json: { code: "UNAVAILABLE", detail: "Later." } }),
  );
  const start = page.getByRole("button", { name: "Start with a sample" });
  await start.click();
  await page.getByText("Later.").first().waitFor();
  await page.unrouteAll();
  await start.click();
  const readHeading = () => page.getByRole("heading", { level: 1 }).textContent();
  await expect.poll(readHeading).toMatch(/^sample 1\.0\.0/u);
  await page.getByText("Live: it accepts executions").waitFor();
  const { items } = await callIn<Services>(world, id, "GET", "/services");
  await callIn(world, id, "POST", `/services/${items[0]?.key}/versions/1.0.0/retire`);
  await open(`/o/${slug}/services/new`);
  await start.click();
  await expect.poll(readHeading).toMatch(/^sample-2 1\.0\.0/u);
});
