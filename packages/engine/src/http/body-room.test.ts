import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { createBodyRoom, readCounted } from "./body-room.ts";

const limits = { perOwner: 10, total: 15 };
const bodyOf = (...sizes: readonly number[]) => Readable.from(sizes.map((size) => Buffer.alloc(size, "x")));

test("a body is read as it came, and counted until its request has done with it", async () => {
  const room = createBodyRoom(limits);
  const first = room.open("alice");
  expect(Buffer.from(await readCounted(bodyOf(4, 4), first, 100)).toString()).toBe("xxxxxxxx");
  const second = room.open("alice");
  await expect(readCounted(bodyOf(4), second, 100)).rejects.toMatchObject({
    code: "RATE_LIMITED",
    headers: { "retry-after": expect.any(String) },
  });
  first.close();
  first.close();
  expect(await readCounted(bodyOf(4), room.open("alice"), 100)).toHaveLength(4);
});

test("all owners together have a limit, of which each gets back what it had", async () => {
  const room = createBodyRoom(limits);
  const shares = ["alice", "bob", "carol"].map((owner) => room.open(owner));
  const [alice, bob, carol] = shares;
  if (!alice || !bob || !carol) throw new Error("there are three");
  alice.take(10);
  bob.take(5);
  expect(() => carol.take(1)).toThrow(expect.objectContaining({ code: "UNAVAILABLE" }));
  bob.close();
  carol.take(5);
  for (const share of shares) share.close();
  room.open("dave").take(10);
});

test("a body without a length is refused once more of it has come than is accepted", async () => {
  const room = createBodyRoom({ perOwner: 1_000, total: 1_000 });
  await expect(readCounted(bodyOf(50, 50, 1), room.open("alice"), 100)).rejects.toMatchObject({
    code: "INPUT_TOO_LARGE",
  });
});
