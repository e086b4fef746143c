import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createTestUser } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { TEST_JOB, createQuantumScene, succeedWith } from "../testing/quantum-scene.ts";
import type { QuantumScene } from "../testing/quantum-scene.ts";

const SEEDED = { deterministic: true, price: { currency: "EUR", perJob: 1 } };
const JOB = {
  ...TEST_JOB,
  backend_id: "sim.seeded",
  input_params: { seed: 7 },
  cache: true,
};
const RESULT = { counts: { "00": 10 } };

let scene: QuantumScene;
let user: TestUser;
let serviceKey: string;
/** The job that has run. */
let first: string;

beforeAll(async () => {
  scene = await createQuantumScene();
});
afterAll(() => scene?.close());
beforeEach(async () => {
  user = await createTestUser(scene.instance);
  serviceKey = await scene.createBackend(user, "sim.seeded", SEEDED);
  first = await run();
});

const send = async (more: object = {}, headers: Record<string, string> = {}, caller = user) =>
  (await scene.call(caller, "POST /jobs", { ...JOB, ...more }, headers)).body;

/** A job that has to run, and does. */
async function run(more: object = {}, caller = user): Promise<string> {
  const job = await send(more, {}, caller);
  expect(job).toMatchObject({ status: "PENDING", cached_from: null, max_cost: null });
  const ran = await scene.runNext(succeedWith(RESULT));
  expect(ran.id).toBe(job["id"]);
  return ran.id;
}

test("a job that was run before is completed in the answer of its start, free, with a name of its own", async () => {
  await scene.call(user, "PUT /budgets/EUR", { amount: 0 });
  const job = await send({ name: "again", tags: ["t"] });
  expect(job).toMatchObject({
    status: "COMPLETED",
    cached_from: first,
    cache: true,
    cost: "0",
    currency: "EUR",
    usage_time_millis: 0,
    name: "again",
  });
  const id = String(job["id"]);
  expect((await scene.call(user, `GET /jobs/${id}/result`)).body).toEqual(RESULT);
  const known = (await scene.call(user, `GET /jobs/${first}`)).body;
  expect(job["digest"]).toBe(known["digest"]);
  expect((await scene.call(user, "GET /jobs?tag=t")).body).toMatchObject({
    content: [{ id, cached_from: first }],
    total_elements: 1,
  });
  const input = await scene.instance.api.inject({
    url: `/quantum/jobs/${id}/input`,
    headers: { "x-auth-token": user.token },
  });
  expect(input.body).toBe(JSON.stringify(JOB.input));
  await expect(scene.runNext(null)).rejects.toThrow("No job waits.");
});

test.each<readonly [string, object]>([
  ["another seed", { input_params: { seed: 8 } }],
  ["no seed", { input_params: {} }],
  ["another number of shots", { shots: 11 }],
  ["another option", { input_params: { seed: 7, method: "x" } }],
  ["another circuit", { input: "h q[1];" }],
  ["no wish for it", { cache: false }],
])("a job with %s runs", async (_what, more) => {
  expect(await run(more)).not.toBe(first);
});

test("two jobs without a seed both run", async () => {
  const more = { input_params: {} };
  expect(await run(more)).not.toBe(await run(more));
});

test("a backend that is not deterministic runs all its jobs, and so does a new version", async () => {
  await scene.createBackend(user, "sim.random");
  const more = { backend_id: "sim.random" };
  expect(await run(more)).not.toBe(await run(more));
  await scene.addVersion({ serviceKey, id: "sim.seeded" }, "2.1.0", SEEDED);
  expect(await run()).not.toBe(first);
});

test("a job that has failed answers none", async () => {
  await send({ shots: 5 });
  await scene.runNext({ status: "FAILED", code: "VENDOR_ERROR", detail: "It broke." });
  expect(await run({ shots: 5 })).not.toBe(first);
});

test("a dry run answers none, and is answered by none", async () => {
  expect(await run({ dry_run: true })).not.toBe(await run({ dry_run: true }));
  await send({ shots: 6, dry_run: true });
  await scene.runNext(succeedWith({ valid: true }));
  expect(await run({ shots: 6 })).not.toBe(first);
});

test("no organisation is answered by a job of another one", async () => {
  const other = await createTestUser(scene.instance);
  await scene.createBackend(other, "sim.seeded", { deterministic: true });
  // As if both had one key, which has the organisation in it.
  await scene.home.database.query({
    text: "update execution_input set \"references\" = jsonb_set(\"references\", '{annotation,cacheKey}', (select x.\"references\" -> 'annotation' -> 'cacheKey' from execution_input x where x.id = $1)) where id = $2",
    values: [first, await run({}, other)],
  });
  await scene.home.database.query({ text: "delete from execution where id = $1", values: [first] });
  expect(await run()).not.toBe(first);
});

const readKeys = async () =>
  await scene.home.database.query<{ readonly id: string }>({
    text: `select i.id from execution_input i join execution e on e.id = i.id
      where e.owner_id = $1 and i."references" -> 'annotation' ->> 'cacheKey' is not null order by i.id`,
    values: [user.organisationId],
  });

test("only jobs that have run themselves are looked through: neither answered ones, nor those that none could be answered from", async () => {
  for (let count = 0; count < 3; count += 1) expect(await send()).toMatchObject({ cached_from: first });
  await run({ input_params: {} });
  await run({ dry_run: true });
  expect(await readKeys()).toEqual([{ id: first }]);
  const again = await run({ shots: 4, cache: false });
  expect(await readKeys()).toEqual([{ id: first }, { id: again }]);
  expect(await send({ shots: 4 })).toMatchObject({ cached_from: again });
});

test("a key starts one job, whether it was run or answered", async () => {
  const asked = { "idempotency-key": "mine" };
  const answered = await send({}, asked);
  expect(await send({}, asked)).toMatchObject({ id: answered["id"], cached_from: first });
  expect(await send({ name: "other" }, asked)).toMatchObject({ code: "IDEMPOTENCY_CONFLICT" });
  const ran = { "idempotency-key": "ran" };
  const job = await send({ shots: 3 }, ran);
  await scene.runNext(succeedWith(RESULT));
  expect(await send({ shots: 3 }, ran)).toMatchObject({ id: job["id"], cached_from: null });
  const both = await Promise.all(
    [1, 2, 3, 4].map(async () => await send({}, { "idempotency-key": "at once" })),
  );
  expect(new Set(both.map(({ id }) => id)).size).toBe(1);
});

test("what was answered is gone with the job that has run: it answers no further ones", async () => {
  expect(await send()).toMatchObject({ cached_from: first });
  await scene.home.database.query({ text: "delete from execution_result where id = $1", values: [first] });
  expect(await run()).not.toBe(first);
});

test("a result that is kept as an object is that of the answered job as well", async () => {
  await scene.home.database.query({
    text: `with kept as (update execution_result set result = '', has_output = true where id = $1 returning id)
      insert into execution_output (execution_id, name, hash, bytes, organisation_id) select id, '', repeat('a', 64), 5, $2::uuid from kept`,
    values: [first, user.organisationId],
  });
  const { id } = await send();
  const rows = await scene.home.database.query({
    text: "select o.hash, r.has_output from execution_output o join execution_result r on r.id = o.execution_id where o.execution_id = $1",
    values: [id],
  });
  expect(rows).toEqual([{ hash: "a".repeat(64), has_output: true }]);
});
