import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { createDeferred } from "@platform/engine/base/deferred";
import { createFairGate } from "./fair-gate.ts";

/** Searches that last until they are ended. */
function open(limits = { inAll: 3, perSharer: 2, waiting: 4 }) {
  const gate = createFairGate({ what: "searches", ...limits });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const search = (name: string, searcher: { organisationId: string; userId: string }) => {
    const end = createDeferred<undefined>();
    ends.set(name, () => end.resolve(undefined));
    return gate.admit(searcher, async () => {
      begun.push(name);
      await end.promise;
      return name;
    });
  };
  return { begun, search, end: (name: string) => ends.get(name)?.() };
}

const createSearcher = () => ({ organisationId: randomUUID(), userId: randomUUID() });

test("an organisation's searches never take all places, and the next of them begins when one ends", async () => {
  const { begun, search, end } = open();
  const [greedy, other] = [createSearcher(), createSearcher()];
  const searches = ["a", "b", "c", "d"].map((name) => search(name, { ...greedy, userId: randomUUID() }));
  await expect.poll(() => begun).toEqual(["a", "b"]);
  const third = search("other", other);
  await expect.poll(() => begun).toEqual(["a", "b", "other"]);
  end("a");
  expect(await searches[0]).toBe("a");
  await expect.poll(() => begun).toEqual(["a", "b", "other", "c"]);
  for (const name of ["b", "c", "d", "other"]) end(name);
  expect(await Promise.all([...searches, third])).toEqual(["a", "b", "c", "d", "other"]);
});

test("a user of many organisations has no more places for it", async () => {
  const { begun, search } = open();
  const { userId } = createSearcher();
  for (const name of ["a", "b", "c"]) void search(name, { organisationId: randomUUID(), userId });
  void search("other", createSearcher());
  await expect.poll(() => begun).toEqual(["a", "b", "other"]);
});

test("the organisation whose turn is longest ago comes first, however many wait of another", async () => {
  const { begun, search, end } = open({ inAll: 1, perSharer: 1, waiting: 9 });
  const [greedy, other] = [createSearcher(), createSearcher()];
  for (const name of ["a", "b", "c"]) void search(name, greedy);
  void search("other", other);
  end("a");
  await expect.poll(() => begun).toEqual(["a", "other"]);
  void search("other again", other);
  end("other");
  await expect.poll(() => begun).toEqual(["a", "other", "b"]);
  end("b");
  await expect.poll(() => begun).toEqual(["a", "other", "b", "other again"]);
});

test("who has many waiting is refused, and told when to try again; a failed search leaves its place", async () => {
  const { search, end } = open({ inAll: 1, perSharer: 1, waiting: 1 });
  const searcher = createSearcher();
  const [first, second] = [search("a", searcher), search("b", searcher)];
  const refused = { code: "RATE_LIMITED", headers: { "retry-after": "1" } };
  await expect(search("c", searcher)).rejects.toMatchObject(refused);
  await expect(search("d", { ...createSearcher(), userId: searcher.userId })).rejects.toMatchObject(refused);
  end("a");
  end("b");
  expect(await Promise.all([first, second])).toEqual(["a", "b"]);
  const gate = createFairGate({ what: "searches", inAll: 1, perSharer: 1, waiting: 1 });
  await expect(gate.admit(searcher, () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  expect(await gate.admit(searcher, async () => "works")).toBe("works");
});
