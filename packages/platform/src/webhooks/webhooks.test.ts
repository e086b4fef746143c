import { expect, test } from "vitest";
import { toJobOwner } from "@platform/engine/store/owner";
import { TEST_SECRET } from "../testing/instance.ts";
import { createStartWebhooks } from "./webhooks.ts";

test("an owner is asked for its webhook of starts once while it has one, and ten thousand are remembered", async () => {
  const asked: string[] = [];
  const ended = toJobOwner("ended");
  const webhooks = createStartWebhooks(
    {
      ensureOfStarts: async ({ id }) => {
        asked.push(id);
        return id !== ended.id;
      },
    },
    TEST_SECRET,
  );
  const owners = Array.from({ length: 10_000 }, (_, index) => toJobOwner(`organisation ${index}`));
  for (const owner of [...owners, ...owners]) await webhooks.prepare(owner);
  expect(asked).toHaveLength(10_000);
  // It has none: whoever asks next may find one.
  for (const owner of [ended, ended]) await webhooks.prepare(owner);
  expect(asked.slice(10_000)).toEqual(["ended", "ended"]);
  // One more than are remembered: all are forgotten, so that they do not grow without end.
  await webhooks.prepare(toJobOwner("one more"));
  for (const owner of owners.slice(0, 2)) await webhooks.prepare(owner);
  expect(asked.slice(10_002)).toEqual(["one more", "organisation 0", "organisation 1"]);
});
