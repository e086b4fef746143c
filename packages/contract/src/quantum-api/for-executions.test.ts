import { expect, test } from "vitest";
import type { Operation } from "../operation.ts";
import { QUANTUM_API } from "./quantum-api.ts";

test("budgets, streams, and lists of what others have done are for users alone, and all else of jobs is open to executions", () => {
  const closed = Object.values<Operation>(QUANTUM_API)
    .filter(({ forExecutions }) => forExecutions !== true)
    .map(({ method, path }) => `${method} ${path}`);
  expect(closed.toSorted()).toEqual([
    "DELETE /budgets/{currency}",
    "GET /budgets",
    "GET /jobs/{id}/events",
    "GET /runtime-minutes",
    "GET /workloads",
    "PUT /budgets/{currency}",
  ]);
});
