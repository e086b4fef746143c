import { expect, test } from "vitest";
import { READERS } from "./feed-readers.ts";
import { createHistory } from "./history.ts";
import { settle } from "./settle.ts";

test("an execution whose code begins while another one is waited for is followed as well", async () => {
  const history = createHistory(() => 0);
  const tell = (id: string) => {
    for (const reader of READERS) history.add({ kind: "event", reader, cursor: id, id, status: "SUCCEEDED" });
  };
  const begin = (op: string, id: string) => history.add({ kind: "began", op, id, nonce: id, attempt: 1 });
  begin("4.0", "first");
  const followed: string[] = [];
  await settle(history, 4, AbortSignal.timeout(5_000), async (id) => {
    followed.push(id);
    history.add({ kind: "result", id, text: id, result: null, by: "gateway-1" });
    // Its start had no answer.
    if (id === "first") {
      setTimeout(() => tell("first"), 40);
      begin("4.1", "second");
      tell("second");
    }
  });
  expect(followed).toEqual(["first", "second"]);
});

test("what does not end is given up", async () => {
  const history = createHistory(() => 0);
  history.add({ kind: "began", op: "4.0", id: "first", nonce: "n", attempt: 1 });
  const followed: string[] = [];
  await settle(history, 4, AbortSignal.timeout(100), async (id) => void followed.push(id));
  expect(followed).toEqual(["first"]);
});
