import { expect, test } from "vitest";
import { judgeServices } from "./known-services.ts";

const NEW = { latestVersion: null, publication: null };
const LIVE = { latestVersion: "1.0.0", publication: "internal" as const };
const page = (items: readonly (typeof NEW | typeof LIVE)[], nextCursor: string | null = null) => ({
  items,
  nextCursor,
});

test("a service that is not among the newest is live and published all the same", () => {
  const newest = page([NEW, NEW], "next");
  expect(judgeServices(newest, page([NEW, NEW, LIVE]), [page([]), page([LIVE])])).toEqual({
    live: LIVE,
    isAnyLive: true,
    isAnyPublished: true,
  });
});

test("what has not been looked for is not known, and what is not there is said to be missing", () => {
  const newest = page([NEW, NEW], "next");
  expect(judgeServices(newest, undefined, [page([]), undefined])).toMatchObject({
    isAnyLive: undefined,
    isAnyPublished: undefined,
  });
  expect(judgeServices(newest, page([NEW, NEW, NEW]), [page([]), page([])])).toMatchObject({
    isAnyLive: false,
    isAnyPublished: false,
  });
});

test("where there are no more than the newest, nothing else is waited for", () => {
  expect(judgeServices(page([NEW]), undefined, [undefined, undefined])).toMatchObject({
    isAnyLive: false,
    isAnyPublished: false,
  });
  expect(judgeServices(page([LIVE]), undefined, [undefined])).toMatchObject({
    isAnyLive: true,
    isAnyPublished: true,
  });
});
