import { afterEach, expect, test, vi } from "vitest";
import { keepDraft, readDraft } from "./storage.ts";

afterEach(() => void vi.unstubAllGlobals());

test("where the browser refuses to keep a draft, it is there until the page is loaded again", () => {
  vi.stubGlobal("sessionStorage", undefined);
  keepDraft("u.listing", { since: 1, values: { title: "Sums" } });
  expect(readDraft("u.listing")).toEqual({ since: 1, values: { title: "Sums" } });
  expect(readDraft("v.listing")).toBeNull();
  keepDraft("u.listing", null);
  expect(readDraft("u.listing")).toBeNull();
});

test("where it is full, what was kept before is not found instead of what is newer", () => {
  const stored = new Map([["platform.draft.w.listing", '{"since":1}']]);
  const setItem = vi.fn<() => void>(() => {
    throw new Error("full");
  });
  const getItem = (name: string) => stored.get(name) ?? null;
  const removeItem = (name: string) => void stored.delete(name);
  vi.stubGlobal("sessionStorage", { getItem, setItem, removeItem });
  expect(readDraft("w.listing")).toEqual({ since: 1 });
  keepDraft("w.listing", { since: 2 });
  expect(readDraft("w.listing")).toEqual({ since: 2 });
  // Nor when the page is loaded again.
  expect(setItem).toHaveBeenCalled();
  expect([...stored]).toEqual([]);
});
