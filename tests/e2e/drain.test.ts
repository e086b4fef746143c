import { afterEach, expect, test } from "vitest";
import { createWorld } from "../support/world.ts";
import type { Consumer, World } from "../support/world.ts";

const FLAGS = ["--worker-cpu", "2", "--worker-memory", "2"];
const PROGRAM = `
import time

def run(data):
    print("began", flush=True)
    time.sleep(data["seconds"])
    return {"slept": data["seconds"]}
`;

interface Worker {
  readonly id: string;
  readonly live: boolean;
  readonly draining: boolean;
  readonly running: number;
  readonly roles: readonly string[];
  readonly sandbox: { readonly level: string } | null;
  readonly pythons: readonly string[];
}

let world: World | undefined;

afterEach(async () => {
  await world?.close();
  world = undefined;
});

const listWorkers = async ({ api }: World) =>
  (await api<{ readonly items: readonly Worker[] }>("GET", "/operator/workers")).body.items;

/** Starts one; resolves with its id when its user code has begun. */
async function startLongRun(consumer: Consumer, seconds: number): Promise<string> {
  const { body } = await consumer.start({ data: { seconds } });
  await expect
    .poll(async () => (await consumer.call<readonly unknown[]>("GET", `${body.id}/log`)).body.length)
    .toBeGreaterThan(0);
  return body.id;
}

test(
  "a worker that an operator drains ends what it runs and takes nothing more, until that is taken back",
  { tags: "full" },
  async () => {
    const here = await createWorld({ role: "gateway,control,builder", flags: FLAGS });
    world = here;
    const { api, platform } = here;
    const first = await here.start({ role: "worker", flags: FLAGS });
    const consumer = await here.subscribe(
      (await here.deploy(await here.createProject("drained", PROGRAM))).serviceKey,
    );
    const whoRan = async (id: string) =>
      (await api<{ readonly workerId: string }>("GET", `/executions/${id}`)).body.workerId;

    const long = await startLongRun(consumer, 30);
    const [one] = await listWorkers(here);
    expect(one).toMatchObject({ live: true, draining: false, running: 1, roles: ["worker"] });
    expect(one?.sandbox?.level).toMatch(/^[ABCD]$/u);
    expect(one?.pythons).toEqual([expect.stringMatching(/^3\.\d+\.\d+/u)]);

    const drain = `/operator/workers/${one?.id ?? ""}/drain`;
    const drained = await here.cli(here.directory, "operator", "drain", one?.id ?? "", "--json");
    expect(JSON.parse(drained.stdout)).toMatchObject({ draining: true, running: 1 });
    const { body: waiting } = await consumer.start({ data: { seconds: 0 } });
    await expect
      .poll(async () => (await consumer.call("GET", waiting.id)).body)
      .toMatchObject({ status: "PENDING", waiting: { reason: "NO_WORKER" } });

    const second = await here.start({ role: "worker", flags: FLAGS });
    expect((await consumer.finish(waiting.id)).status).toBe("SUCCEEDED");
    expect(await whoRan(waiting.id)).not.toBe(one?.id);

    expect((await consumer.finish(long)).status).toBe("SUCCEEDED");
    expect(await whoRan(long)).toBe(one?.id);
    await expect
      .poll(async () => (await listWorkers(here)).find(({ id }) => id === one?.id))
      .toMatchObject({ live: true, draining: true, running: 0 });

    expect((await api("DELETE", drain)).body).toMatchObject({ draining: false });
    await second.stop();
    const { body: last } = await consumer.start({ data: { seconds: 0 } });
    expect((await consumer.finish(last.id)).status).toBe("SUCCEEDED");
    expect(await whoRan(last.id)).toBe(one?.id);

    const { body: instance } = await api<{
      readonly processes: readonly { readonly roles: readonly string[] }[];
    }>("GET", "/operator/instance");
    expect(instance.processes.map(({ roles }) => roles)).toEqual([
      ["builder", "control", "gateway"],
      ["worker"],
    ]);
    expect(JSON.stringify(instance)).not.toContain(here.login.password);
    expect([platform.process.exitCode, first.process.exitCode]).toEqual([null, null]);
  },
);
