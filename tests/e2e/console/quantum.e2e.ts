import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk, request } from "../../../tools/platform-client.ts";
import { findBarriers } from "./support/axe.ts";
import { inviteMember } from "./support/people.ts";
import { openConsole } from "./support/open-console.ts";
import type { ConsoleWorld } from "./support/open-console.ts";
import {
  callQuantum,
  changeWhileEstimated,
  deployBackend,
  openQuantumSession,
  toCircuit,
  toJob,
} from "./support/quantum-backend.ts";

const run = promisify(execFile);
const HOSTILE = `<img src=x onerror="document.title='run'">`;
const BACKEND = "lab.h7";

let world: ConsoleWorld;
let slug: string;
let organizationId: string;
let serviceKey: string;

beforeAll(async () => {
  world = await openConsole();
  const me = await world.api<{ organization: { id: string; slug: string } }>("GET", "/me");
  ({ id: organizationId, slug } = me.body.organization);
  serviceKey = await deployBackend(world, BACKEND, {
    name: `H7 ${HOSTILE}`,
    description: `Seven qubits ${HOSTILE} <script>document.title='run'</script>`,
    technology: HOSTILE,
    gates: ["cz", "rz", HOSTILE],
  });
});
afterAll(() => world?.close());

type Job = Readonly<Record<"id" | "status", string>>;

/** What the quantum API answers to the user. */
function quantum<T>(method: string, path: string, json?: unknown, wait = 0): Promise<T> {
  return callQuantum(world, organizationId, method, path, { json, wait });
}

const start = (circuit: string, more: object = {}, wait = 30) =>
  quantum<Job>("POST", "/jobs", toJob(BACKEND, [circuit], more), wait);
const pageOf = ({ id }: Job) => `/o/${slug}/quantum-jobs/${id}`;

test("an organisation without backends is told how to get one, in both lists", async () => {
  const empty = await world.createOrganisation("No qubits");
  const { page, open, complaints } = await world.visit();
  await open(`/o/${empty.slug}/backends`);
  await page.getByRole("heading", { name: "No backends yet" }).waitFor();
  await page.getByText("platform backends install statevector").waitFor();
  await open(`/o/${empty.slug}/quantum-jobs`);
  await page.getByRole("link", { name: "Choose a backend to run a circuit on" }).click();
  await page.getByRole("heading", { level: 1, name: "Backends" }).waitFor();
  expect(complaints).toEqual([]);
});

test("a circuit is run from the page of its backend, which the palette finds, and its counts appear by themselves", async () => {
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}`);
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill("lab.h");
  await page.getByRole("option", { name: BACKEND }).click();
  await page.getByRole("heading", { level: 1, name: BACKEND }).waitFor();
  await page.getByText("Online", { exact: true }).waitFor();
  await page.getByText("0.3 EUR a job, 0.00035 EUR a shot").waitFor();

  await page.getByRole("tab", { name: "Configuration" }).click();
  await page.getByRole("img", { name: "Drawing: 6 pairs of 7 qubits" }).waitFor();
  await page.getByText("1 to 100,000").waitFor();
  await page.getByRole("tab", { name: "Calibration" }).click();
  await page.getByRole("row", { name: "0 80 µs 60 µs 4.9 GHz" }).waitFor();

  await page.getByRole("button", { name: "Run a circuit" }).click();
  const dialog = page.getByRole("dialog");
  const circuit = dialog.getByLabel("Circuit");
  expect(await circuit.inputValue()).toContain("OPENQASM 3.0;");
  await circuit.fill("OPENQASM 2.0; qreg q[1];");
  await dialog.getByRole("button", { name: "Start the job" }).click();
  await dialog.getByText("Must begin with OPENQASM 3.0; or with {").waitFor();
  await circuit.fill(toCircuit(3));
  await dialog.getByLabel("Shots").fill("2000");
  await dialog.getByLabel("Seed").fill("7");
  await dialog.getByRole("button", { name: "Check and estimate" }).click();
  const estimate = dialog.getByRole("status", { name: "Estimate" });
  await estimate.getByText("about 250 ms").waitFor();
  // By its price, 0.3 EUR and 2,000 shots of 0.00035 EUR.
  await estimate.getByText("1 EUR").first().waitFor();
  await estimate.getByText("the circuit is not transpiled").waitFor();
  // What was estimated is what is sent: of anything else, there is none.
  await dialog.getByLabel("Shots").fill("2002");
  await estimate.waitFor({ state: "hidden" });
  await changeWhileEstimated(dialog, 2001);
  expect(await estimate.count()).toBe(0);
  await dialog.getByLabel("Costs at most").fill("0.5");
  await dialog.getByRole("button", { name: "Start the job" }).click();
  await dialog.getByText(/The job may cost up to 1.00035 EUR/u).waitFor();
  await dialog.getByLabel("Costs at most").fill("2");
  await dialog.getByLabel("Shots").fill("2000");
  await dialog.getByLabel("Name").fill("GHZ by hand");
  await dialog.getByRole("button", { name: "Start the job" }).click();

  await page.getByRole("heading", { level: 1, name: "GHZ by hand" }).waitFor();
  await page.getByText(/outcomes of 2,000 shots$/u).waitFor();
  const rows = await page.getByRole("table").getByRole("row").allTextContents();
  const frequent = rows.slice(1, 3).map((row) => row.slice(0, 3));
  expect(new Set(frequent)).toEqual(new Set(["000", "111"]));
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download each shot" }).click(),
  ]);
  const shots = (await readFile(await download.path(), "utf8")).trimEnd().split("\n");
  expect(shots).toHaveLength(2_000);
  const zeros = shots.filter((shot) => shot === "000").length;
  await page.getByRole("row", { name: `000 ${zeros.toLocaleString("en")}` }).waitFor();
  await page.getByText("statevector").waitFor();
  await page.getByRole("tab", { name: "Circuit" }).click();
  await page.getByRole("region", { name: "Circuit" }).getByText("qubit[3] q;").waitFor();

  const { pathname: first } = new URL(page.url());
  await page.getByRole("button", { name: "Run again" }).click();
  await page.getByText("Started again with the same input.").waitFor();
  await page.waitForURL(({ pathname }) => pathname !== first);
  await page.getByText(/outcomes of 2,000 shots$/u).waitFor();
  // The same circuit with the same seed: the same counts.
  expect(await page.getByRole("table").getByRole("row").allTextContents()).toEqual(rows);
  expect(complaints.filter((text) => !text.includes("status of 400"))).toEqual([]);
});

test("a job that runs is followed with its log, and ends where it is cancelled", async () => {
  const job = await start(toCircuit(2, "// seconds 600"), { name: "Long" }, 1);
  const { page, open, complaints } = await world.visit();
  await open(`${pageOf(job)}?tab=log`);
  await page.getByText("Running", { exact: true }).first().waitFor();
  await page.getByText("second 1").first().waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel", exact: true }).click();
  await page.getByText("Cancelled", { exact: true }).first().waitFor();
  await page.getByText("What to do:").waitFor();
  expect(await quantum<Job>("GET", `/jobs/${job.id}`)).toMatchObject({ status: "CANCELLED" });
  await page.getByRole("tab", { name: "Facts" }).click();
  await page.getByRole("link", { name: "The execution that it is" }).click();
  await page.waitForURL(`**/o/${slug}/executions/${job.id}`);
  expect(complaints).toEqual([]);
});

/** A number that no double has. */
const SEED = "9007199254740993";

test("Run again sends options digit by digit, with the session, the limit of its cost and what may answer it", async () => {
  const session = await openQuantumSession(world, organizationId, BACKEND);
  const body = JSON.stringify(
    toJob(BACKEND, [toCircuit(2)], { session_id: session, max_cost: 0.7, cache: true }),
  );
  const { id, digest } = await expectOk(
    request<{ id: string; digest: string }>("POST", `${world.login.apiUrl}/quantum/jobs`, {
      token: world.login.personalAccessToken,
      headers: { "content-type": "application/json", prefer: "wait=30" },
      body: body.replace(/\}$/u, `, "input_params": {"seed": ${SEED}, "exact": 1e-400}}`),
    }),
  );
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}/quantum-jobs/${id}?tab=facts`);
  await page.getByText(`{"seed": ${SEED}, "exact": 1e-400}`).waitFor();
  await page.getByText("0.7 EUR").waitFor();
  const runAgain = async (): Promise<object> => {
    const { pathname: before } = new URL(page.url());
    await page.getByRole("button", { name: "Run again" }).click();
    await page.waitForURL(({ pathname }) => pathname !== before);
    return await quantum<object>("GET", `/jobs/${new URL(page.url()).pathname.split("/").at(-1) ?? ""}`);
  };
  // The same digest: byte by byte what was sent, so the first job has answered it.
  const kept = { max_cost: "0.7", cache: true, digest, cached_from: id, status: "COMPLETED" };
  expect(await runAgain()).toMatchObject({ ...kept, session_id: session });
  await quantum("DELETE", `/sessions/${session}`);
  expect(await runAgain()).toMatchObject({ ...kept, session_id: null });
  await page.getByText("Its session takes no jobs any more").waitFor();
  expect(complaints).toEqual([]);
});

test("a session is opened, runs a job, takes no more, and is closed", { tags: "full" }, async () => {
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}/quantum-jobs`);
  await page.getByRole("link", { name: "Sessions" }).click();
  await page.getByRole("button", { name: "Open a session" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Open", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: /^Session / }).waitFor();
  await page.getByText("Open", { exact: true }).waitFor();
  const session = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  await page.getByRole("link", { name: "Run in it" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(session).waitFor();
  await dialog.getByLabel("Name").fill("In a session");
  await dialog.getByRole("button", { name: "Start the job" }).click();
  await page.getByRole("heading", { level: 1, name: "In a session" }).waitFor();
  await page.getByRole("tab", { name: "Facts" }).click();
  await page.getByRole("link", { name: session }).click();
  await page.getByRole("link", { name: "In a session" }).waitFor();

  const press = async (name: string) => {
    await page.getByRole("button", { name, exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name, exact: true }).click();
  };
  await press("Take no more jobs");
  await page.getByText("Draining", { exact: true }).waitFor();
  expect(await page.getByRole("link", { name: "Run in it" }).count()).toBe(0);
  await press("Close session");
  await page.getByText("Closed", { exact: true }).first().waitFor();
  expect(await page.getByRole("button", { name: /^(Close session|Take)/u }).count()).toBe(0);
  expect(await quantum<object>("GET", `/sessions/${session}`)).toMatchObject({
    status: "CLOSED",
    job_count: 1,
  });
  expect(complaints).toEqual([]);
});

test(
  "an operator shares a backend under its id and an alias, which other organisations find, and takes it back",
  { tags: "full" },
  async () => {
    const elsewhere = await world.createOrganisation("Elsewhere");
    const { page, open, complaints } = await world.visit();
    const dialog = page.getByRole("dialog");
    await open("/operator/backends");
    await page.getByText("No backend is shared").waitFor();
    await page.getByRole("button", { name: "Share a backend" }).click();
    await dialog.getByLabel("Id of the backend").fill(BACKEND);
    await dialog.getByLabel("Key of the service").fill(serviceKey);
    await dialog.getByRole("button", { name: "Share" }).click();
    await page.getByRole("row", { name: BACKEND }).waitFor();
    await page.getByRole("button", { name: "Add an alias" }).click();
    await dialog.getByLabel("Alias").fill("vendor.simulator");
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText(`alias of ${BACKEND}`).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await open(`/o/${elsewhere.slug}/backends`);
    await page.getByText(`simulated by ${BACKEND}`).waitFor();
    await open("/operator/backends");
    await page.getByRole("button", { name: "Take back" }).click();
    await dialog.getByRole("button", { name: "Take back" }).click();
    await page.getByText("No backend is shared").waitFor();
    expect(complaints).toEqual([]);
  },
);

test(
  "jobs are found by name, tag, state and time, page by page, and the address shows a colleague the same",
  { tags: "full" },
  async () => {
    const bodies = Array.from({ length: 27 }, (_, at) => ({
      name: `sweep ${at}`,
      tags: at % 9 === 0 ? ["sweep", "ninth"] : ["sweep"],
    }));
    const [failed] = await Promise.all([
      start(toCircuit(1, "// fails"), { name: "sweep that fails", tags: ["sweep"] }),
      ...bodies.map((more) => start(toCircuit(1), { ...more, shots: 1 }, 1)),
    ]);
    const { page, open, complaints } = await world.visit();
    const { page: colleague, open: openThere } = await world.visit();
    await open(`/o/${slug}/quantum-jobs`);
    await page.getByLabel("Name").fill("SWEEP");
    await page.keyboard.press("Enter");
    await page.getByText("28 jobs, page 1 of 2").waitFor();
    await page.getByRole("button", { name: "Older" }).click();
    await page.getByText("28 jobs, page 2 of 2").waitFor();
    expect(await page.getByRole("table").getByRole("row").count()).toBe(1 + 3);
    await page.getByRole("button", { name: "Newer" }).focus();
    await page.keyboard.press("Tab");
    await page.getByRole("tooltip").getByText("These are the oldest jobs.").waitFor();
    await openThere(new URL(page.url()).pathname + new URL(page.url()).search);
    await colleague.getByText("28 jobs, page 2 of 2").waitFor();

    // Another filter begins at the first page.
    await page.getByLabel("Tag").fill("ninth");
    await page.keyboard.press("Enter");
    await page.getByText("3 jobs", { exact: true }).waitFor();
    await page.getByLabel("Created").selectOption("Last hour");
    await page.getByLabel("Backend").selectOption(BACKEND);
    await page.getByText("3 jobs", { exact: true }).waitFor();
    await page.getByLabel("State").selectOption("Aborted");
    await page.getByText("No quantum job matches").waitFor();
    await page.goBack();
    await page.getByText("3 jobs", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Clear filters" }).click();
    await page.getByLabel("State").selectOption("Failed");
    await page.getByRole("link", { name: "sweep that fails" }).click();
    await page.getByText("The circuit cannot be read.").waitFor();
    await page.getByText("the register r is not declared").waitFor();
    await page.getByRole("link", { name: "Look at the input" }).click();
    await page.getByRole("region", { name: "Circuit" }).getByText("// fails").waitFor();
    expect(page.url()).toContain(failed.id);
    expect(complaints).toEqual([]);
  },
);

test(
  "samples of an annealer and expectation values are tables, and what has no such form is JSON",
  { tags: "full" },
  async () => {
    const bqm = { variable_labels: ["a", "b"], linear_biases: [1, -2] };
    const problem = { input_format: "DIMOD_BQM", input: { bqm }, shots: 40, input_params: { seed: 3 } };
    const sampled = await start("", problem);
    const input = { primitive: "estimator", pubs: [{ circuit: toCircuit(2), observables: { ZZ: 1 } }] };
    const estimated = await start("", { input, input_params: { precision: 0.03 } });
    const { page, open, complaints } = await world.visit();
    await open(pageOf(sampled));
    await page.getByText("40 samples of 2 variables, 4 distinct").waitFor();
    // The least energy first.
    await page.getByRole("row", { name: /^-2 \d+ a=0 b=1$/u }).waitFor();
    await page.getByRole("tab", { name: "Problem" }).click();
    await page.getByText("linear_biases").waitFor();
    await open(pageOf(estimated));
    await page.getByRole("row", { name: "2 -0.4375 0.03125" }).waitFor();
    await page.getByRole("button", { name: "Show the result as JSON" }).click();
    await page.getByText('"evs"').waitFor();
    expect(complaints).toEqual([]);
  },
);

test("many outcomes are bounded, and the rest is counted together", { tags: "full" }, async () => {
  const job = await start(toCircuit(7, "// spread"));
  const { page, open } = await world.visit();
  await open(pageOf(job));
  const table = page.getByRole("table");
  await page.getByText(/outcomes of 1,000 shots$/u).waitFor();
  expect(await table.getByRole("row").count()).toBe(1 + 16 + 1);
  const counts = await table.locator("tbody td:nth-child(2)").allTextContents();
  expect(counts.reduce((sum, count) => sum + Number(count.replace(",", "")), 0)).toBe(1_000);
  await page.getByText("By outcome").click();
  const bits = await table.locator("tbody th").allTextContents();
  expect(bits.slice(0, 16)).toEqual(bits.slice(0, 16).toSorted());
  await page.getByRole("button", { name: "Show all outcomes" }).click();
  await expect.poll(() => table.getByRole("row").count()).toBeGreaterThan(60);
});

test("what people and backends write is text wherever it stands", async () => {
  const more = { name: HOSTILE, tags: [HOSTILE], input_params: { seed: 1, note: HOSTILE } };
  const job = await start(toCircuit(1, `// says ${HOSTILE}`), more);
  const { page, open, complaints } = await world.visit();
  const backend = [`/${BACKEND}`, `/${BACKEND}?tab=configuration`, ""].map(
    (at) => `/o/${slug}/backends${at}`,
  );
  const pages = ["", "?tab=circuit", "?tab=log", "?tab=facts"].map((tab) => pageOf(job) + tab);
  for (const path of [...backend, `/o/${slug}/quantum-jobs`, ...pages]) {
    await open(path);
    await page.getByText(HOSTILE).first().waitFor();
    expect(await page.locator("main img, main script").count()).toBe(0);
  }
  expect(await page.title()).not.toBe("run");
  expect(complaints).toEqual([]);
});

test("the curl and the command that are shown start a job as they are copied", async () => {
  const { page, open } = await world.visit();
  await open(`/o/${slug}/backends/${BACKEND}?tab=programs`);
  await page.getByRole("region", { name: "Python program" }).getByText(BACKEND).first().waitFor();
  await page.getByRole("tab", { name: "curl" }).click();
  const command = await page.getByRole("region", { name: "curl command" }).textContent();
  const env = { ...process.env, PLATFORM_TOKEN: world.login.personalAccessToken };
  const { stdout } = await run("sh", ["-c", command ?? ""], { env });
  expect(JSON.parse(stdout)).toMatchObject({ backend_id: BACKEND, shots: 1_000 });
});

test("a viewer sees backends and jobs, and starts and cancels nothing", async () => {
  const job = await start(toCircuit(2, "// seconds 600"), {}, 1);
  const viewer = await inviteMember(world, organizationId, "viewer");
  const { page, open, complaints } = await world.visit({ as: viewer });
  await open(`/o/${slug}/backends/${BACKEND}`);
  const button = page.getByRole("button", { name: "Run a circuit" });
  expect(await button.getAttribute("aria-disabled")).toBe("true");
  await button.focus();
  await page.getByText(/You are viewer of .*; this needs the role maintainer or owner/u).waitFor();
  await button.press("Enter");
  expect(await page.getByRole("dialog").count()).toBe(0);
  await open(pageOf(job));
  for (const name of ["Cancel", "Run again"])
    expect(await page.getByRole("button", { name }).getAttribute("aria-disabled")).toBe("true");
  expect(await quantum<Job>("GET", `/jobs/${job.id}`)).toMatchObject({ status: "RUNNING" });
  expect(complaints).toEqual([]);
  await quantum("DELETE", `/jobs/${job.id}`);
});
