import { afterAll, beforeAll, expect, test } from "vitest";
import { findBarriers, findCutText } from "./support/axe.ts";
import { WIDTHS } from "./support/browser.ts";
import { openConsole } from "./support/open-console.ts";
import type { ConsoleWorld } from "./support/open-console.ts";
import {
  callQuantum,
  deployBackend,
  H7,
  startQuantumJob,
  toCircuit,
  toJob,
} from "./support/quantum-backend.ts";
import { refuseTaken } from "./support/refuse-taken.ts";

const BACKEND = "lab.h7";
/** Without calibration and dry runs. */
const PLAIN = "lab.plain";

let world: ConsoleWorld;
let slug: string;
let organizationId: string;

beforeAll(async () => {
  // One job at a time: the next one waits.
  world = await openConsole({ flags: ["--backend-cpu", "0.25"] });
  const me = await world.api<{ organization: { id: string; slug: string } }>("GET", "/me");
  ({ id: organizationId, slug } = me.body.organization);
  await deployBackend(world, BACKEND, H7);
  await deployBackend(world, PLAIN, { ...H7, isPlain: true });
});
afterAll(() => world?.close());

const start = (backend: string, circuit: string, seconds = 30) =>
  startQuantumJob(world, organizationId, toJob(backend, [circuit]), seconds);
const pageOf = (id: string, tab = "") => `/o/${slug}/quantum-jobs/${id}${tab === "" ? "" : `?tab=${tab}`}`;

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
  await start(BACKEND, toCircuit(2));
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

test(
  "the page of a job has the calibration that it ran on, and says so where its backend has none",
  { tags: "full" },
  async () => {
    const [measured, plain] = [await start(BACKEND, toCircuit(2)), await start(PLAIN, toCircuit(2))];
    const { page, open, complaints } = await world.visit({ width: WIDTHS.narrow });
    await open(pageOf(measured));
    await page.getByRole("tab", { name: "Calibration" }).click();
    await page.getByText("80 µs").first().waitFor();
    await page.getByText("0.4 %").first().waitFor();
    expect(await findCutText(page)).toEqual([]);
    expect(await findBarriers(page)).toEqual([]);
    await open(pageOf(plain, "calibration"));
    await page.getByText("The version of the backend that runs the job has no calibration.").waitFor();
    expect(complaints).toEqual([]);
  },
);

test(
  "a result in the form of another SDK is counted in the order of bits of all pages, and each has its normal form as JSON",
  { tags: "full" },
  async () => {
    const [other, own] = [
      await start(BACKEND, toCircuit(3, "// as Braket")),
      await start(BACKEND, toCircuit(3)),
    ];
    const { page, open, complaints } = await world.visit({ width: WIDTHS.narrow });
    await open(pageOf(other));
    // The first qubit, which Braket has first, stands last.
    await page.getByRole("row", { name: "001 1,000 100" }).waitFor();
    await page.getByRole("button", { name: "Show the result as JSON" }).click();
    await page.getByText('"measuredQubits"').waitFor();
    await page.getByRole("button", { name: "Show its normal form" }).click();
    await page.getByText('"001"').waitFor();
    expect(await page.getByText('"measuredQubits"').count()).toBe(0);
    expect(await findCutText(page)).toEqual([]);
    expect(await findBarriers(page)).toEqual([]);
    await open(pageOf(own));
    await page.getByText(/outcomes of 1,000 shots$/u).waitFor();
    await page.getByRole("button", { name: "Show its normal form" }).click();
    await page.getByText('"counts"').waitFor();
    expect(complaints).toEqual([]);
  },
);

test("a job that waits says when it is likely to begin", { tags: "full" }, async () => {
  await start(BACKEND, toCircuit(1, "// seconds 3"));
  const runs = await start(BACKEND, toCircuit(1, "// seconds 600"), 1);
  const waits = await start(BACKEND, toCircuit(1), 1);
  const { page, open, complaints } = await world.visit({ width: WIDTHS.narrow });
  await open(pageOf(waits));
  await page
    .getByRole("status")
    .getByText(/It is likely to begin/u)
    .waitFor();
  expect(await findCutText(page)).toEqual([]);
  expect(await findBarriers(page)).toEqual([]);
  for (const id of [waits, runs]) await callQuantum(world, organizationId, "DELETE", `/jobs/${id}`);
  expect(complaints).toEqual([]);
});

test("an estimate is offered where the backend answers dry runs", { tags: "full" }, async () => {
  const { page, open, complaints } = await world.visit();
  for (const [backend, offers] of [
    [BACKEND, 1],
    [PLAIN, 0],
  ] as const) {
    await open(`/o/${slug}/backends/${backend}?new=job`);
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Start the job" }).waitFor();
    expect(await dialog.getByRole("button", { name: "Check and estimate" }).count()).toBe(offers);
  }
  expect(complaints).toEqual([]);
});
