import { expect, test } from "vitest";
import type { ServicePolicy } from "@platform/contract/policy";
import { SECOND } from "../base/time.ts";
import { createMemoryStore } from "../store/memory-store.ts";
import { createOwner } from "../testing/execution-fixtures.ts";
import { createExecutions } from "./executions.ts";
import { applyPolicy } from "./start-policy.ts";

const target = (policy: ServicePolicy) => ({
  id: "version",
  resources: { cpu: 1, memory: 1 },
  timeoutSeconds: 60,
  inputSchema: null,
  service: { key: "service", organisationId: "organisation", policy },
});

test("nothing of a policy that is empty is stored with a start", () => {
  expect(applyPolicy(target({}), () => true)).toEqual({ timeoutSeconds: 60 });
});

test("what an external backend has begun is taken up again, whatever the policy says of retries", () => {
  const retriesOf = (policy: ServicePolicy) =>
    applyPolicy({ ...target(policy), isExternal: true }, () => true).retries;
  const retries = { onLost: "unknown", onError: { max: 3, backoffSeconds: 1 } } as const;
  expect([retriesOf({}), retriesOf({ retries })]).toEqual([{ resumes: true }, { ...retries, resumes: true }]);
  expect(applyPolicy(target({ retries }), () => true).retries).toEqual(retries);
});

test("the deadline of the policy holds for starts that name none, and theirs goes before it", async () => {
  const store = createMemoryStore();
  const inputs = {
    pin: () => Promise.reject(new Error("there are no references here")),
    pinPools: async () => [],
    place: async () => "gone" as const,
  };
  const executions = createExecutions({ store, inputs });
  const measure = async (policy: ServicePolicy, body: object) => {
    const given = { body: Buffer.from(JSON.stringify(body)) };
    const { createdAt, startBy = Infinity } = await executions.start(createOwner(), target(policy), given);
    return (startBy - createdAt) / SECOND;
  };
  expect(await measure({ startWithinSeconds: 600 }, {})).toBe(600);
  expect(await measure({ startWithinSeconds: 600 }, { startWithin: 3_600 })).toBe(3_600);
  expect(await measure({}, { startWithin: 5 })).toBe(5);
  expect(await measure({}, {})).toBe(Infinity);
  executions.close();
});
