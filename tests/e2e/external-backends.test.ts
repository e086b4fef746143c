import { cp } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { request } from "../../tools/platform-client.ts";
import type { Answer } from "../../tools/platform-client.ts";
import type { PlatformProcess } from "../../tools/platform-process.ts";
import { STUB_ADAPTER, STUB_PROJECT, createStubVendor } from "../support/stub-vendor.ts";
import type { StubVendor } from "../support/stub-vendor.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

/* Jobs of a vendor beside the platform: what is bought is never bought twice, and never forgotten. */

type Body = Readonly<Record<string, unknown>>;

const SDK = join(import.meta.dirname, "../../sdk/python/platform_quantum");
const MINUTE = 60_000;
const LEASE = ["--lease-seconds", "5"];
const WORKER = [...LEASE, "--worker-cpu", "0.5", "--backend-cpu", "0.5"];
const JOB = { backend_id: "qpu.stub", input_format: "OPEN_QASM_V3", shots: 7, input: "OPENQASM 3.0;" };
const IS_ROOT = process.getuid?.() === 0;

describe.runIf(IS_ROOT)("a backend whose jobs run at a vendor", () => {
  let vendor: StubVendor;
  let world: World;
  let worker: PlatformProcess;

  beforeAll(async () => {
    vendor = await createStubVendor();
    world = await createWorld({ role: "gateway,control,builder", flags: LEASE });
    const project = await world.createProject("stub", "", { ...STUB_ADAPTER, "platform.json": STUB_PROJECT });
    await cp(SDK, join(project, "platform_quantum"), { recursive: true });
    worker = await world.start({ role: "worker", flags: WORKER });
    await world.api("PUT", "/variables/VENDOR_URL", { value: vendor.url });
    await world.api("PUT", "/secrets/VENDOR_KEY", { value: vendor.key });
    await world.deploy(project);
  });
  afterAll(async () => {
    await world?.close();
    await vendor?.close();
  });
  beforeEach(async () => {
    await vendor.change({ holdAnswers: false, away: false });
    await vendor.release();
  });

  const quantum = async (
    method: string,
    path: string,
    { json, prefer }: { readonly json?: unknown; readonly prefer?: string } = {},
  ): Promise<Answer<Body>> =>
    await request<Body>(method, `${world.platform.apiUrl}/quantum${path}`, {
      token: world.login.personalAccessToken,
      ...(json === undefined ? {} : { json }),
      ...(prefer === undefined ? {} : { headers: { prefer } }),
    });
  const start = async (more: Body = {}): Promise<string> => {
    const { status, body } = await quantum("POST", "/jobs", { json: { ...JOB, ...more } });
    expect([status, body]).toEqual([201, expect.objectContaining({ backend_id: "qpu.stub" })]);
    return String(body["id"]);
  };
  const end = async (id: string): Promise<Body> =>
    (await quantum("GET", `/jobs/${id}`, { prefer: "wait=60" })).body;
  const log = async (id: string): Promise<readonly string[]> => {
    const lines = (await quantum("GET", `/jobs/${id}/log`)).body as unknown as readonly Body[];
    return lines.map(({ message }) => String(message));
  };
  const jobsOf = async (id: string) => (await vendor.listJobs()).filter(({ tag }) => tag === id);
  /** Waits until the vendor has a job of this execution, and until what it says is kept. */
  const waitFor = async (id: string, text: string) =>
    await expect.poll(async () => (await log(id)).join("\n")).toContain(text);
  const loseWorker = async () => {
    await worker.kill();
    worker = await world.start({ role: "worker", flags: WORKER });
  };

  test("its job is submitted once, and its result delivered", async () => {
    const id = await start();
    await waitFor(id, "Submitted as job");
    await vendor.release();
    const [job] = await jobsOf(id);
    expect(await end(id)).toMatchObject({ status: "COMPLETED", error: null });
    expect((await quantum("GET", `/jobs/${id}/result`)).body).toEqual({
      counts: { "00": 7 },
      metadata: { vendor_job_id: job?.id },
    });
    expect((await log(id)).join("\n")).not.toContain(vendor.key);
  });

  test("a worker that is killed while it waits loses nothing: another goes on with the same job", async () => {
    const id = await start();
    await waitFor(id, "Submitted as job");
    const [before] = await jobsOf(id);
    await loseWorker();
    await waitFor(id, `Going on with job ${before?.id}`);
    await vendor.release();
    expect(await end(id)).toMatchObject({ status: "COMPLETED" });
    expect(await jobsOf(id)).toMatchObject([{ id: before?.id, state: "DONE" }]);
    expect((await quantum("GET", `/jobs/${id}/result`)).body).toMatchObject({ counts: { "00": 7 } });
  });

  test("one that is killed before it knows the job's id finds it by its tag", async () => {
    await vendor.change({ holdAnswers: true });
    const id = await start();
    await expect.poll(() => jobsOf(id)).toHaveLength(1);
    await loseWorker();
    await vendor.change({ holdAnswers: false });
    const [job] = await jobsOf(id);
    await waitFor(id, `Job ${job?.id} of the vendor has been submitted by an attempt before`);
    await vendor.release();
    expect(await end(id)).toMatchObject({ status: "COMPLETED" });
    expect(await jobsOf(id)).toHaveLength(1);
  });

  test("one that is killed with a job that the vendor does not know submits no other: nobody knows what became of it", async () => {
    await vendor.change({ holdAnswers: true });
    const id = await start();
    await expect.poll(() => jobsOf(id)).toHaveLength(1);
    await worker.kill();
    await vendor.forget(id);
    await vendor.change({ holdAnswers: false });
    worker = await world.start({ role: "worker", flags: WORKER });
    await expect
      .poll(() => end(id), { timeout: 2 * MINUTE })
      .toMatchObject({ status: "FAILED", error: { code: "WORKER_LOST" } });
    expect(await jobsOf(id)).toEqual([]);
  });

  test("a cancellation reaches the vendor", async () => {
    const id = await start();
    await waitFor(id, "Submitted as job");
    expect((await quantum("DELETE", `/jobs/${id}`)).status).toBe(204);
    expect(await end(id)).toMatchObject({ status: "CANCELLED" });
    expect(await jobsOf(id)).toMatchObject([{ state: "CANCELLED" }]);
  });

  test("one that comes while the vendor takes the job reaches it too", async () => {
    await vendor.change({ holdAnswers: true });
    const id = await start();
    await expect.poll(() => jobsOf(id)).toHaveLength(1);
    expect((await quantum("DELETE", `/jobs/${id}`)).status).toBe(204);
    await vendor.change({ holdAnswers: false });
    expect(await end(id)).toMatchObject({ status: "CANCELLED" });
    expect(await jobsOf(id)).toMatchObject([{ state: "CANCELLED" }]);
  });

  test("so does one that comes while no worker is there", { tags: "full" }, async () => {
    const id = await start();
    await waitFor(id, "Submitted as job");
    await worker.kill();
    const state = async () => (await quantum("GET", `/jobs/${id}/status`)).body["status"];
    await expect.poll(state).toBe("PENDING");
    expect((await quantum("DELETE", `/jobs/${id}`)).status).toBe(204);
    expect(await jobsOf(id)).toMatchObject([{ state: "RUNNING" }]);
    worker = await world.start({ role: "worker", flags: WORKER });
    await expect.poll(() => end(id), { timeout: 2 * MINUTE }).toMatchObject({ status: "CANCELLED" });
    expect(await jobsOf(id)).toMatchObject([{ state: "CANCELLED" }]);
  });

  test("a vendor that is away for a while is asked again; what it refuses has failed", async () => {
    const id = await start();
    await waitFor(id, "Submitted as job");
    await vendor.change({ away: true });
    await waitFor(id, "not to be asked for");
    await vendor.change({ away: false });
    await vendor.release();
    expect(await end(id)).toMatchObject({ status: "COMPLETED" });
    const refused = await start({ input: "OPENQASM 3.0; refuse" });
    expect(await end(refused)).toMatchObject({
      status: "FAILED",
      error: { code: "VENDOR_REJECTED", detail: expect.stringContaining("does not like") as unknown },
    });
    const unreachable = { away: true };
    await vendor.change(unreachable);
    expect(await end(await start())).toMatchObject({ status: "FAILED", error: { code: "BACKEND_OFFLINE" } });
  });

  test("what reads circuits of strangers finds neither variables nor the process that has them", async () => {
    const id = await start({ input: "no circuit" });
    expect(await end(id)).toMatchObject({
      status: "FAILED",
      error: { code: "CIRCUIT_INVALID", detail: "This is no OpenQASM. []" },
    });
  });
});
