import { expect, test } from "vitest";
import type { Claim } from "./ports.ts";
import { prepareClaim } from "./prepare-claim.ts";

const CLAIM: Claim = {
  id: "execution",
  ownerId: "owner",
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
