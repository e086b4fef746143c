import { once } from "node:events";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { spawnPlatform } from "../../tools/platform-process.ts";
import { createWorld } from "../support/world.ts";
import type { Consumer, World } from "../support/world.ts";

const RESULT_BYTES = 2_000_000;
const PROGRAM = `
def run(data):
    print("said")
    return {"text": data["letter"] * ${RESULT_BYTES}}
`;
const DAY = 24 * 3600 * 1000;
const LONG_AFTER_ROUND = 60_000;
const WITHIN = { timeout: 120_000 };

let world: World;
let consumer: Consumer;
let database: Client;
let insertedAt = 0;

beforeAll(async () => {
  world = await createWorld();
  database = new Client({
    host: join(world.dataDirectory, "postgres", "socket"),
    user: "platform",
    database: "platform",
  });
  // It ends before the test's own connection to it does.
  database.on("error", () => undefined);
  await database.connect();
  await database.query(
    "insert into kept_log (id, seq, lines, expires_at) values (gen_random_uuid(), 0, '', now())",
  );
  insertedAt = Date.now();
});

afterAll(async () => {
  await database?.end();
  await world?.close();
});

/** An execution with a result that is an object, of a service whose owner has said just now for how many days things are kept. */
async function runKept(letter: string, ...days: readonly string[]): Promise<string> {
  const set = await world.cli(world.directory, "services", "set", "kept", ...days);
  expect(set).toMatchObject({ code: 0 });
  const { body } = await consumer.start({ data: { letter } });
  expect(await consumer.finish(body.id)).toMatchObject({ status: "SUCCEEDED" });
  return body.id;
}

/** Makes an execution one of yesterday, as if the day had passed: its id says when it was started. */
async function age(id: string): Promise<string> {
  const time = Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16) - DAY;
  const hex = time.toString(16).padStart(12, "0");
  const aged = `${hex.slice(0, 8)}-${hex.slice(8)}${id.slice(13)}`;
  for (const table of ["execution", "execution_input", "execution_result", "execution_log"])
    await database.query(`update ${table} set id = $2 where id = $1`, [id, aged]);
  await database.query("update execution_output set execution_id = $2 where execution_id = $1", [id, aged]);
  await database.query(
    "update execution set created_at = created_at - interval '1 day', ended_at = ended_at - interval '1 day' where id = $1",
    [aged],
  );
  return aged;
}

/**
 * Waits until the platform's first round, which comes five seconds after its start, has removed what had expired then; the next comes in an hour. What
 * is still there long afterwards was inserted behind that round.
 */
async function passFirstRound(): Promise<void> {
  await expect.poll(hasPassedRound, WITHIN).toBe(true);
}

async function hasPassedRound(): Promise<boolean> {
  const { rowCount } = await database.query("select 1 from kept_log");
  return rowCount === 0 || Date.now() - insertedAt > LONG_AFTER_ROUND;
}

/** What a caller gets: the codes of state, result and log. */
async function read(id: string): Promise<readonly unknown[]> {
  const answers = [id, `${id}/result`, `${id}/log`].map((path) => consumer.call("GET", path));
  return (await Promise.all(answers)).map(({ status, body }) => (status === 200 ? 200 : body["code"]));
}

async function countStored(): Promise<object> {
  const { rows } = await database.query<object>(`select (select count(*)::int from execution) as executions,
    (select count(*)::int from execution_result) as results, (select count(*)::int from execution_input) as inputs,
    (select count(distinct id)::int from execution_log) as logs, (select count(*)::int from execution_output) as outputs,
    (select count(*)::int from object where bytes > ${RESULT_BYTES}) as objects`);
  return rows[0] ?? {};
}

/** What `npm start -- retention` prints. */
async function preview(...flags: readonly string[]): Promise<string> {
  const { process, readLog } = await spawnPlatform({
    dataDirectory: world.dataDirectory,
    command: ["npm", "start", "--silent", "--", "retention"],
    flags,
  });
  expect(await once(process, "close")).toEqual([0, null]);
  return readLog();
}

interface Preview {
  readonly services: readonly object[];
  readonly unneeded: { readonly objects: number; readonly bytes: number };
}

/** Behind the lines of the log. */
async function previewJson(): Promise<Preview> {
  const text = await preview("--json");
  return JSON.parse(text.slice(text.search(/^\{\n/mu))) as Preview;
}

test("what a service keeps for a day is refused, named, and removed a day later; all else stays", async () => {
  const { serviceKey } = await world.deploy(await world.createProject("kept", PROGRAM));
  consumer = await world.subscribe(serviceKey);
  const [log, both, none] = [
    await runKept("a", "--result-days", "2", "--log-days", "1"),
    await runKept("b", "--result-days", "1"),
    await runKept("c", "--result-days", "0", "--log-days", "0"),
  ];
  const { endedAt, expiresAt, logExpiresAt } = (await consumer.call("GET", log)).body;
  const after = (days: number) =>
    new Date(Date.parse(`${String(endedAt)}Z`) + days * DAY).toISOString().slice(0, 19).replace("T", " ");
  expect([expiresAt, logExpiresAt]).toEqual([after(2), after(1)]);
  expect(await read(both)).toEqual([200, 200, 200]);
  await passFirstRound();
  const before = await countStored();
  expect(before).toEqual({ executions: 3, results: 3, inputs: 3, logs: 3, outputs: 3, objects: 3 });
  expect(await previewJson()).toMatchObject({ services: [], unneeded: { objects: 0 } });

  const [agedLog, agedBoth, agedNone] = [await age(log), await age(both), await age(none)];
  await database.query("update object set kept_at = kept_at - interval '2 days'");
  expect(await read(agedLog)).toEqual([200, 200, "LOG_EXPIRED"]);
  expect(await read(agedBoth)).toEqual(["RESULT_EXPIRED", "RESULT_EXPIRED", "RESULT_EXPIRED"]);
  expect(await read(agedNone)).toEqual([200, 200, 200]);
  const { services, unneeded } = await previewJson();
  expect(services).toMatchObject([{ serviceKey, service: "kept", executions: 1, logs: 2 }]);
  expect(unneeded.objects).toBe(1);
  expect(unneeded.bytes).toBeGreaterThan(RESULT_BYTES);
  const table = await preview();
  expect(table).toMatch(new RegExp(`^kept ${serviceKey} +1 +2 +\\d+$`, "mu"));
  expect(table).toContain(`Objects that are removed: 1, ${unneeded.bytes} bytes\nNothing was changed.\n`);
  expect(await countStored()).toEqual(before);

  // Each process begins with a round.
  await world.start({ role: "gateway" });
  await expect
    .poll(countStored, WITHIN)
    .toEqual({ executions: 3, results: 2, inputs: 2, logs: 1, outputs: 2, objects: 2 });
  expect(await read(agedLog)).toEqual([200, 200, "LOG_EXPIRED"]);
  expect(await read(agedBoth)).toEqual(["RESULT_EXPIRED", "RESULT_EXPIRED", "RESULT_EXPIRED"]);
  expect(await read(agedNone)).toEqual([200, 200, 200]);
});
