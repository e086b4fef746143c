import { expect, test } from "vitest";
import { createDeferred } from "../base/deferred.ts";
import { createCheckpointReader } from "./checkpoint-reader.ts";

test("checkpoints of one owner's executions do not delay those of another's", async () => {
  const held = createDeferred<void>();
  const asked: string[] = [];
  const read = createCheckpointReader(async (_id, ownerId) => {
    asked.push(ownerId);
    await held.promise;
    return Buffer.from("{}");
  }, 10);
  const loud = Array.from({ length: 50 }, (_, index) =>
    read({ id: `execution ${index}`, ownerId: "loud", at: 1 }),
  );
  const quiet = read({ id: "another", ownerId: "quiet", at: 1 });
  held.resolve();
  expect(await quiet).toEqual({ bytes: 2, text: Buffer.from("{}") });
  await Promise.all(loud);
  expect(asked.indexOf("quiet")).toBeLessThan(5);
  expect(asked).toHaveLength(51);
});
