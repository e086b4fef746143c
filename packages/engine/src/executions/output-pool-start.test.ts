import { expect, test } from "vitest";
import { toJobOwner } from "../store/owner.ts";
import { createMemoryStore } from "../store/memory-store.ts";
import { createExecutions } from "./executions.ts";

const POOL = { dataPoolId: "11111111-1111-4111-8111-111111111111" };
const TOURS = { type: "object", format: "output-pool" };
const refuse = () => Promise.reject(new Error("nothing is read"));

test("a server that stores files nowhere refuses an output pool as one that there is not, at its place", async () => {
  const store = createMemoryStore();
  const inputs = { pin: refuse, pinPools: refuse, place: refuse };
  const executions = createExecutions({ store, inputs });
  const inputSchema = { properties: { params: { type: "object", properties: { tours: TOURS } } } };
  const target = { id: "v1", resources: { cpu: 1, memory: 1 }, timeoutSeconds: 60, inputSchema };
  const start = (params: object) =>
    executions.start(toJobOwner("org-1"), target, { body: Buffer.from(JSON.stringify({ params })) });
  try {
    await expect(start({ tours: POOL })).rejects.toMatchObject({
      code: "DATA_REFERENCE_INVALID",
      status: 422,
      errors: [{ path: "/params/tours" }],
    });
    expect(await start({})).toMatchObject({ status: "PENDING" });
  } finally {
    executions.close();
  }
});
