import { join } from "node:path";
import { Client } from "pg";
import { afterEach, expect, test } from "vitest";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

const PROGRAM = `
def run(data):
    return {"said": data["word"]}
`;

let world: World | undefined;
let database: Client | undefined;
afterEach(async () => {
  await database?.end();
  await world?.close();
  [world, database] = [undefined, undefined];
});

interface Shown {
  readonly id: string;
  readonly nextAt: string | null;
  readonly executionId: string | null;
  readonly runs: readonly {
    readonly status: string;
    readonly trigger: string;
    readonly executionId: string | null;
  }[];
}

test("a schedule starts jobs and executions of a subscription when it is due, and when it is asked to", async () => {
  const here = await createWorld();
  world = here;
  const { serviceKey } = await here.deploy(await here.createProject("talker", PROGRAM));
  const consumer = await here.subscribe(serviceKey);
  const run = async (...args: string[]) => await here.cli(here.directory, "schedules", ...args);
  const cli = async (...args: string[]) => {
    const result = await run(...args, "--json");
    expect(result).toMatchObject({ code: 0 });
    return JSON.parse(result.stdout) as Shown;
  };
  const show = (name: string) => cli("show", name);
  // Whenever the story runs, the times are far from it: in half a year or more, or in less.
  const month = ((new Date().getUTCMonth() + 6) % 12) + 1;
  const times = `0 4 1 ${month} *`;
  await cli("create", "jobs", times, "talker", "--zone", "Europe/Berlin", "--data", '{"word": "job"}');
  const { id: subscriptionId } = consumer.subscription;
  const calls = await cli(
    "create",
    "calls",
    times,
    "--subscription",
    subscriptionId,
    "--data",
    '{"word": "call"}',
  );
  expect((await run("show", "jobs")).stdout).toMatch(/Next +\d{4}-\d{2}-01 04:00 Europe\/Berlin/u);
  expect((await show("jobs")).runs).toEqual([]);

  const { executionId: job } = await cli("run", "jobs");
  await expect
    .poll(async () => (await here.api("GET", `/jobs/${job}/result`)).body)
    .toMatchObject({ result: { said: "job" } });

  database = new Client({
    host: join(here.dataDirectory, "postgres", "socket"),
    user: "platform",
    database: "platform",
  });
  database.on("error", () => undefined);
  await database.connect();
  await database.query(
    "update schedule set next_at = now() + interval '200 milliseconds' where name = 'calls'",
  );
  await database.query("notify schedules_changed");
  await expect
    .poll(async () => (await here.api("GET", `/schedules/${calls.id}/runs`)).body)
    .toMatchObject({ items: [{ status: "STARTED", trigger: "CRON" }] });
  const { runs, nextAt } = await show("calls");
  const ended = await consumer.finish(String(runs[0]?.executionId));
  expect(ended).toMatchObject({ status: "SUCCEEDED" });
  expect(nextAt).toMatch(/-01 04:00:00$/u);

  await cli("pause", "calls");
  expect((await run("ls")).stdout).toMatch(/calls +0 4 1 \d+ \* +UTC +paused +STARTED/u);
  const refused = await run("create", "wrong", "0 0 30 2 *", "talker");
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain("never occurs");
  await cli("rm", "jobs");
  expect((await run("show", "jobs")).stderr).toContain("There is no schedule 'jobs'");
});
