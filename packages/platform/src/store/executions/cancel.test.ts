import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createExecution } from "@platform/engine/testing/execution-fixtures";
import { openTrail } from "../audit/trail.ts";
import { createTestStore } from "../../testing/test-store.ts";
import type { TestStore } from "../../testing/test-store.ts";

let scene: TestStore;

beforeAll(async () => {
  scene = await createTestStore();
});
afterAll(() => scene?.close());

test("a job is cancelled together with its entry in the audit log, or not at all", async () => {
  const { store, home } = scene;
  const organisationId = randomUUID();
  const owner = { kind: "organisation", id: organisationId, organisationId } as const;
  const execution = createExecution({ owner });
  await store.create(execution);
  const trail = openTrail({
    organisationId,
    actorKind: "user",
    actorId: null,
    credential: null,
    action: "job.cancel",
    target: [execution.id],
    outcome: "done",
    code: null,
    ip: "192.0.2.1",
    changes: [],
  });
  const cancel = () => trail.run(() => store.cancel(execution.id, organisationId));
  await home.database.query({ text: "alter function append_audit_entry rename to hidden" });
  try {
    await expect(cancel()).rejects.toThrow("append_audit_entry");
  } finally {
    await home.database.query({ text: "alter function hidden rename to append_audit_entry" });
  }
  expect(await store.find(execution.id, organisationId)).toMatchObject({ status: "PENDING" });
  expect(await cancel()).toMatchObject({ status: "FAILED" });
  expect(trail.pending()).toBeNull();
  expect(
    await home.database.query({
      text: "select action, target from audit_entry where organisation_id = $1",
      values: [organisationId],
    }),
  ).toEqual([{ action: "job.cancel", target: execution.id }]);
});
