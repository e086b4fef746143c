import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk } from "../../../tools/platform-client.ts";
import { joinConsole } from "./support/open-console.ts";
import type { ConsoleWorld } from "./support/open-console.ts";

let world: ConsoleWorld;
let slug: string;
let serviceKey: string;
beforeAll(async () => {
  world = await joinConsole();
  const { body } = await world.api<{ organization: { slug: string } }>("GET", "/me");
  ({ slug } = body.organization);
  const service = await expectOk(world.api<{ key: string }>("POST", "/services", { name: "planned" }));
  serviceKey = service.key;
});
afterAll(() => world?.close());

test("a limit that a new plan cannot have is told at its field, and no other one is sent: what is out of bounds at once, what is less than is included by the platform", async () => {
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}/services/${serviceKey}?tab=plans&new=plan`);
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("Limited");
  await dialog.getByLabel("Name in URLs").fill("limited");
  const most = dialog.getByLabel("At most per month");
  await most.fill("1000000000001");
  const starts = dialog.getByLabel("Starts per minute");
  await starts.fill("0");
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByText("Must be at most 1000000000000").waitFor();
  await dialog.getByText("Must be at least 1", { exact: true }).waitFor();
  // The kit takes the period out of the number of a field for whole ones.
  await starts.fill("");
  await starts.pressSequentially("1.5");
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByText("Must be a whole number").waitFor();
  await starts.fill("");
  await most.fill("5");
  await dialog.getByLabel("Included per month").fill("10");
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByText("Must not be lower than included, or be absent").waitFor();
  await most.fill("010");
  await most.press("Enter");
  await page.getByRole("row").filter({ hasText: "At most 10 executions a month" }).waitFor();
  // What the browser says of the answer that refuses it.
  expect(complaints.filter((text) => !text.includes("400"))).toEqual([]);
});

test("terms that are entered while others are being saved can be saved next: nobody else has saved", async () => {
  await expectOk(world.api("PUT", `/services/${serviceKey}/plans/growing`, { name: "Growing" }));
  const { page, open } = await world.visit();
  await open(`/o/${slug}/services/${serviceKey}?tab=plans&plan=growing`);
  const held: (() => void)[] = [];
  await page.route(/\/plans\/growing$/u, async (route) => {
    await new Promise<void>((resolve) => held.push(resolve));
    await route.continue();
  });
  const dialog = page.getByRole("dialog", { name: "Terms of Growing" });
  const change = dialog.getByRole("button", { name: "Change", exact: true });
  await dialog.getByLabel("Included per month").fill("5");
  await change.click();
  await expect.poll(() => held.length).toBe(1);
  await dialog.getByLabel("At most per month").fill("9");
  held.pop()?.();
  await page.getByRole("button", { name: "Stay" }).click();
  expect(await page.getByText("Changed since you opened it").count()).toBe(0);
  await change.click();
  await expect.poll(() => held.length).toBe(1);
  held.pop()?.();
  await dialog.waitFor({ state: "detached" });
  const read = await world.api<{ items: readonly object[] }>("GET", `/services/${serviceKey}/plans`);
  expect(read.body.items).toContainEqual(
    expect.objectContaining({ id: "growing", included: 5, limits: expect.objectContaining({ perMonth: 9 }) }),
  );
});

test(
  "terms of a plan that somebody else has changed meanwhile are replaced only when that is known",
  { tags: "full" },
  async () => {
    const path = `/services/${serviceKey}/plans/shared`;
    await world.api("PUT", path, { name: "Shared", included: 1 });
    const { open, page } = await world.visit();
    await open(`/o/${slug}/services/${serviceKey}?tab=plans&plan=shared`);
    const dialog = page.getByRole("dialog", { name: "Terms of Shared" });
    await dialog.getByLabel("Starts per minute").fill("7");
    await world.api("PUT", path, { name: "Shared", included: 2 });
    const change = dialog.getByRole("button", { name: "Change" });
    await change.click();
    await dialog.getByText("Changed since you opened it").waitFor();
    expect(await dialog.getByLabel("Starts per minute").inputValue()).toBe("7");
    expect((await world.api("GET", path)).body).toMatchObject({ included: 2, revision: 2 });
    await dialog.getByRole("button", { name: "Show the newer one" }).click();
    await expect.poll(() => dialog.getByLabel("Included per month").inputValue()).toBe("2");
    await world.api("PUT", path, { name: "Shared", included: 3 });
    await dialog.getByLabel("Starts per minute").fill("8");
    await change.click();
    await dialog.getByRole("button", { name: "Let mine replace it" }).click();
    await change.click();
    await dialog.waitFor({ state: "detached" });
    expect((await world.api("GET", path)).body).toMatchObject({ included: 2, limits: { perMinute: 8 } });
  },
);
