import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk } from "../../../tools/platform-client.ts";
import { findBarriers } from "./support/axe.ts";
import { joinConsole } from "./support/open-console.ts";
import type { ConsoleWorld } from "./support/open-console.ts";
import { callIn } from "./support/people.ts";

const PROGRAM = `
def run(data: dict[str, int]) -> int:
    """Adds up."""
    return sum(data.values())
`;

let world: ConsoleWorld;
let serviceKey: string;
beforeAll(async () => {
  world = await joinConsole();
  const project = await world.createProject("aging", PROGRAM);
  ({ serviceKey } = await world.deploy(project));
  await writeFile(join(project, "src/program.py"), PROGRAM.replace("Adds up", "Adds all up"));
  await world.deploy(project);
  await expectOk(world.api("POST", `/services/${serviceKey}/publish`, { scope: "marketplace" }));
});
afterAll(() => world?.close());

/** A subscription of a new application, which names a version. */
async function subscribe(organization: string, version: string) {
  const call = (path: string, json: unknown) => callIn(world, organization, "POST", path, json);
  const { id: applicationId } = await call("/applications", { name: "caller" });
  const { id } = await call("/subscriptions", { applicationId, serviceKey, version });
  return { id: id ?? "", path: `applications/${applicationId}` };
}

test("a provider retires the version that a subscription names: its page says what still works and what to do, nothing of it is started, and another version is named; without a live one, nothing leads to a page that is not there", async () => {
  const { id, slug } = await world.createOrganisation("Aging");
  const subscription = await subscribe(id, "1.0.0");
  const path = `/subscriptions/${subscription.id}`;
  const started = await callIn(world, id, "POST", `${path}/executions`, { data: { a: 1 } });
  const me = await world.api<{ organization: { slug: string } }>("GET", "/me");
  const { page, open, complaints } = await world.visit();
  const dialog = page.getByRole("dialog");
  await open(`/o/${me.body.organization.slug}/services/${serviceKey}/versions/1.0.0`);
  await page.getByRole("button", { name: "Retire", exact: true }).click();
  await dialog.getByRole("button", { name: "Retire", exact: true }).click();
  await page.getByText("Retired: it accepts no new executions").waitFor();
  await page.getByRole("button", { name: "Retire", exact: true }).waitFor({ state: "detached" });

  await open(`/o/${slug}/${subscription.path}`);
  await page.getByText("Version retired", { exact: true }).waitFor();
  await page.getByRole("link", { name: "aging", exact: true }).click();
  const retired = page.getByRole("alert").filter({ hasText: "Version 1.0.0 is retired" });
  await retired.getByText(/refused with VERSION_RETIRED \(410\).*: 1\.0\.1 is live\./u).waitFor();
  await page.getByRole("cell", { name: "of the subscription: retired" }).waitFor();
  expect(await page.getByRole("heading", { name: /^(?:Call it|Clients of)/u }).count()).toBe(0);
  expect(await findBarriers(page)).toEqual([]);

  await page.getByRole("link", { name: "Try it" }).click();
  const run = page.getByRole("button", { name: "Run", exact: true });
  await run.hover();
  await page.getByRole("tooltip").getByText("version 1.0.0 is retired: choose another version").waitFor();
  expect(await run.getAttribute("aria-disabled")).toBe("true");
  await page.getByRole("combobox", { name: "Version" }).click();
  await page.getByRole("option", { name: "1.0.1", exact: true }).click();
  await page.waitForURL(/version=1\.0\.1/u);
  await expect.poll(() => run.getAttribute("aria-disabled")).not.toBe("true");

  await page.getByRole("link", { name: "Open the subscription" }).click();
  await page.getByRole("button", { name: "Change", exact: true }).click();
  await dialog.getByLabel("Version").fill("1.0.1");
  await dialog.getByRole("button", { name: "Change", exact: true }).click();
  await page.getByRole("heading", { name: "Call it" }).waitFor();
  expect(await retired.count()).toBe(0);

  // Retired while it is tried: the page itself looks no more, and what is pressed is the next look.
  await page.getByRole("link", { name: "Try it" }).click();
  await page.getByRole("textbox", { name: "data" }).waitFor();
  const asked = new RegExp(`/api${path}$`, "u");
  await page.route(asked, (route) => (route.request().method() === "GET" ? undefined : route.continue()));
  await expectOk(world.api("POST", `/services/${serviceKey}/versions/1.0.1/retire`, {}));
  await run.click();
  const refusal = page.getByRole("alert").filter({ hasText: "The provider has retired this version" });
  await refusal.getByText("No other version of the service is live.").waitFor();
  await page.unroute(asked);

  await open(`/o/${slug}/${subscription.path}${path}`);
  await page.getByText("aging: no version of it is live").waitFor();
  await page.getByText("No version of the service is live: when one is").waitFor();
  expect(await page.getByRole("main").getByRole("link", { name: "aging", exact: true }).count()).toBe(0);
  await page.getByRole("link", { name: "Try it" }).click();
  await run.hover();
  await page.getByRole("tooltip").getByText("no version of the service is live").waitFor();
  // What was started before is read as before.
  expect(await callIn(world, id, "GET", `/executions/${started["id"]}`)).toMatchObject({ version: "1.0.0" });
  expect(complaints.filter((text) => !text.includes("status of 410"))).toEqual([]);
});
