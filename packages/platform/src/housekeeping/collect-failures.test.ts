import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DAY } from "@platform/engine/base/time";
import { createLocalObjects } from "../objects/local-objects.ts";
import { collectGarbage } from "./collect-garbage.ts";

test("what cannot be removed keeps nothing else from being removed, and is said then", async () => {
  const root = await mkdtemp(join(tmpdir(), "garbage-"));
  const data = {
    root,
    objects: join(root, "objects"),
    objectCache: join(root, "object-cache"),
    versions: join(root, "versions"),
    environments: join(root, "environments"),
    run: join(root, "run", "own"),
  };
  const left = join(data.versions, "incoming-left");
  await mkdir(left, { recursive: true });
  await utimes(left, new Date(Date.now() - 2 * DAY), new Date(Date.now() - 2 * DAY));
  const asked: string[] = [];
  const note = (kind: string) => async () => {
    asked.push(kind);
    return 0;
  };
  const refused = new Error("no such table");
  const collected = collectGarbage({
    data,
    uploads: { findNeeded: async () => new Set() },
    garbage: {
      removeOldBuilds: () => Promise.reject(refused),
      removeOldSignIns: note("sign-ins"),
      removeEndedAccess: () => Promise.reject(new Error("another")),
      removeEndedFiles: note("files"),
      removeOldUploads: note("uploads"),
      removeReadObjects: note("reads"),
      removeFullBuckets: note("buckets"),
      removeOldKeys: note("keys"),
      removeOldDeliveries: note("deliveries"),
    },
    objects: {
      store: createLocalObjects(data.objects),
      rows: {
        note: async () => true,
        mark: async () => {
          asked.push("objects");
          return [];
        },
        forget: async () => true,
        listUnneeded: async () => [],
        adopt: async () => 0,
        findUnknown: async () => new Set(),
        listNeeded: async () => [],
      },
    },
  });
  await expect(collected).rejects.toBe(refused);
  const all = ["buckets", "deliveries", "files", "keys", "objects", "reads", "sign-ins", "uploads"];
  expect(asked.toSorted()).toEqual(all);
  expect(existsSync(left)).toBe(false);
  await rm(root, { recursive: true });
});
