import { statSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { findZygotes } from "../testing/find-zygote.ts";
import { createFixture } from "../testing/python-fixture.ts";
import type { Fixture } from "../testing/python-fixture.ts";
import type { RunnableVersion } from "./port/runtime.ts";

/* One version serves several organisations: what one of them breaks out of its run has nothing of another's beside it. */

let fixture: Fixture;
afterEach(() => fixture.close());

const PROGRAM = "import os\nZYGOTE = os.urandom(8).hex()\ndef run():\n    return ZYGOTE";
const TENANTS = ["one", "other"] as const;

const forTenant = (version: RunnableVersion, tenant: string): RunnableVersion => ({ ...version, tenant });
const run = async (version: RunnableVersion, tenant: string) =>
  JSON.stringify((await fixture.finish(forTenant(version, tenant))).result);

test("each tenant of a version has a process of its own, under a user of its own, again and again", async () => {
  fixture = await createFixture();
  const version = fixture.createVersion(PROGRAM);
  const [first, second] = [await run(version, "one"), await run(version, "other")];
  expect(first).not.toBe(second);
  expect([await run(version, "one"), await run(version, "other")]).toEqual([first, second]);
  const zygotes = findZygotes(version);
  expect(zygotes).toHaveLength(2);
  const users = new Set(zygotes.map((pid) => statSync(`/proc/${pid}`).uid));
  // Who is no root has one user to give.
  expect(users.size).toBe(process.getuid?.() === 0 ? 2 : 1);
});

test("the process of a tenant that sends nothing any more ends by itself", async () => {
  fixture = await createFixture({ idleSeconds: 0.6 });
  const version = fixture.createVersion(PROGRAM);
  await Promise.all(TENANTS.map((tenant) => run(version, tenant)));
  expect(findZygotes(version)).toHaveLength(2);
  await expect.poll(() => findZygotes(version)).toEqual([]);
});

test("tenants take the place of the one that was used longest ago, and none of one that runs something", async () => {
  fixture = await createFixture({ maxZygotes: 2 });
  const version = fixture.createVersion(
    `${PROGRAM.replace("run()", "run(params: dict)")}\n`.replace(
      "    return",
      "    import time\n    time.sleep(params.get('seconds', 0))\n    return",
    ),
  );
  const busy = fixture.start(forTenant(version, "busy"), {
    params: { seconds: 600 },
    timeoutSeconds: 900,
  });
  const send = async (tenant: string) =>
    JSON.stringify((await fixture.finish(forTenant(version, tenant), { params: {} })).result);
  const answers = [];
  for (const tenant of [...TENANTS, ...TENANTS]) answers.push(await send(tenant));
  expect(new Set(answers).size).toBe(4);
  busy.kill({ code: "CANCELLED", detail: "It ran all the time." });
  expect(await busy.outcome).toMatchObject({ code: "CANCELLED" });
  await busy.ended;
});

test("a version that is retired ends for all its tenants", async () => {
  fixture = await createFixture();
  const version = fixture.createVersion(PROGRAM);
  for (const tenant of TENANTS) await run(version, tenant);
  await fixture.runtime.retire(version.id);
  expect(findZygotes(version)).toEqual([]);
});
