import { expect, test } from "vitest";
import type { Claim } from "../store/execution-store.ts";
import { prepareClaim } from "./prepare-claim.ts";
import { createOwner } from "../testing/execution-fixtures.ts";
import { ProjectError } from "../project/project-error.ts";

const CLAIM: Claim = {
  id: "execution",
  owner: createOwner(),
  versionId: "version",
  resources: { cpu: 1, memory: 1 },
  // Not what bounds the preparation: it begins with user code.
  timeoutSeconds: 3600,
  body: Buffer.from("{}"),
  references: {},
  attempt: 1,
  workerId: "worker",
  setbacks: 0,
};

test("a version that never gets ready is given up at the preparation's own limit, and its source is told to stop", async () => {
  const stopped: unknown[] = [];
  const prepared = await prepareClaim(
    {
      versions: {
        prepare: (_id, signal) => {
          signal.addEventListener("abort", () => stopped.push(signal.reason));
          return new Promise(() => undefined);
        },
      },
      inputs: { check: async () => undefined, read: async () => null },
    },
    CLAIM,
    new AbortController().signal,
    20,
  );
  expect(prepared).toMatchObject({
    kind: "fault",
    cause: { message: expect.stringContaining("longer than") },
  });
  expect(stopped).toHaveLength(1);
});

test.each([
  ["what the version brings along", new ProjectError("BUILD_FAILED", "own==1 is gone."), "version"],
  ["something of ours", new Error("The disk is full."), "worker"],
] as const)("where %s keeps it from getting ready, only that is left out", async (_, cause, scope) => {
  const error = new Error("The live version could not be made ready again.", { cause });
  const prepared = await prepareClaim(
    {
      versions: { prepare: async () => Promise.reject(error) },
      inputs: { check: async () => undefined, read: async () => null },
    },
    CLAIM,
    new AbortController().signal,
  );
  expect(prepared).toMatchObject({ kind: "fault", scope, cause: error });
});
