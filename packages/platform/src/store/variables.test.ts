import { expect, test } from "vitest";
import type { Database } from "../postgres/database.ts";
import { createTestUser } from "../testing/fixtures.ts";
import { startAtOnce } from "../testing/held-lock.ts";
import { createTestInstance } from "../testing/instance.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import { createOrganisationStore } from "./accounts/organisations.ts";
import { createVariableStore } from "./variables.ts";

test("a variable that is set while its organisation is deleted is no deadlock: neither is tried again", async () => {
  const home = await createTestDatabase();
  const instance = await createTestInstance({ database: home.database });
  const { userId } = await createTestUser(instance);
  const organisationId = await instance.identity.createOrganisation(userId, { name: "Short-lived" });
  const { key: serviceKey } = await instance.stores.services.create({
    organisationId,
    name: "demo",
    description: "",
  });
  let tries = 0;
  const database: Database = {
    ...home.database,
    transaction: (work) =>
      home.database.transaction((run) => {
        tries += 1;
        return work(run);
      }),
  };
  const variable = { kind: "variable", value: "1", by: userId } as const;
  const lock = { text: "select 1 from service where key = $1 for update", values: [serviceKey] };
  await startAtOnce<unknown>(home, lock, () => [
    createVariableStore(database).put({ organisationId, serviceKey }, "NAME", variable),
    createOrganisationStore(database).delete(organisationId, userId),
  ]);
  expect(tries).toBe(2);
  const left = await home.database.query({ text: "select 1 from variable where value is not null" });
  expect(left).toEqual([]);
  await instance.close();
  await home.close();
});
