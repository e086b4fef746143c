import { expect, test } from "vitest";
import { createDeferred } from "../base/deferred.ts";
import { createLogReader } from "./log-reader.ts";
import { createWatches } from "./watches.ts";

test("logs of one owner's executions do not delay those of another's", async () => {
  const watches = createWatches({ find: async () => null, readChanges: async () => [] });
  const held = createDeferred<void>();
  const asked: string[] = [];
  const read = createLogReader(async (_id, ownerId) => {
    asked.push(ownerId);
    await held.promise;
    return { lines: Buffer.from("[]"), position: "0", nextCursor: null };
  }, 10);
  const readOf = (ownerId: string, id: string) =>
    read(watches.create({ id, ownerId, logPosition: undefined }));
  const loud = Array.from({ length: 50 }, (_, index) => readOf("loud", `execution ${index}`));
  const quiet = readOf("quiet", "another");
  held.resolve();
  await Promise.all([...loud, quiet]);
  expect(asked.indexOf("quiet")).toBeLessThan(5);
  expect(asked).toHaveLength(51);
});
