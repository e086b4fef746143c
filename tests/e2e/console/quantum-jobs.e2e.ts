import { afterAll, beforeAll, expect, test } from "vitest";
import { openConsole } from "./support/open-console.ts";
import type { ConsoleWorld } from "./support/open-console.ts";
import { deployBackend, H7, startQuantumJob, toCircuit, toJob } from "./support/quantum-backend.ts";
import { refuseTaken } from "./support/refuse-taken.ts";

const BACKEND = "lab.h7";

let world: ConsoleWorld;
let slug: string;
let organizationId: string;

beforeAll(async () => {
  world = await openConsole();
  const me = await world.api<{ organization: { id: string; slug: string } }>("GET", "/me");
  ({ id: organizationId, slug } = me.body.organization);
  await deployBackend(world, BACKEND, H7);
});
afterAll(() => world?.close());

test("a budget stops a job that may cost more than is left, and says what is spent", async () => {
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}/settings`);
  await page.getByText("Without one, jobs may cost any amount.").waitFor();
  await page.getByRole("button", { name: "New budget" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Currency").fill("euro");
  await dialog.getByLabel("Amount of a month").fill("1,5");
  await dialog.getByRole("button", { name: "Set" }).click();
  await dialog.getByText("Must be a currency code of three capital letters").waitFor();
  await dialog.getByText("Must be an amount, such as 12 or 0.0025").waitFor();
  await dialog.getByLabel("Currency").fill("EUR");
  await dialog.getByLabel("Amount of a month").fill("1");
  await dialog.getByRole("button", { name: "Set" }).click();
  await page.getByText("Budget set.").waitFor();
  await refuseTaken(page, "New budget", { Currency: "EUR", "Amount of a month": "500" });
  await startQuantumJob(world, organizationId, toJob(BACKEND, [toCircuit(2)]));
  await open(`/o/${slug}/backends/${BACKEND}?new=job`);
  await dialog.getByRole("button", { name: "Start the job" }).click();
  await dialog.getByText("QUOTA_EXCEEDED").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await open(`/o/${slug}/settings`);
  await page.getByRole("row", { name: /EUR 1 EUR .*0\.65 EUR 0 EUR 0\.35 EUR/u }).waitFor();
  await page.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByText("Without one, jobs may cost any amount.").waitFor();
  expect(complaints.filter((text) => !text.includes("429"))).toEqual([]);
});
