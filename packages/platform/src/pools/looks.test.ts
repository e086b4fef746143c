import { once } from "node:events";
import { expect, test } from "vitest";
import { MEGABYTE } from "@platform/engine/base/bytes";
import type { JsonForm } from "@platform/engine/json-check/json-form";
import { createLooks } from "./looks.ts";

const FORM: JsonForm = { form: "object", range: { start: 0, end: 2 } };
const ours = { organisationId: "ours", bytes: 5 * MEGABYTE };

function hold() {
  const ending = new AbortController();
  const look = once(ending.signal, "abort").then(() => FORM);
  return { begin: () => look, end: () => ending.abort() };
}

test("who asks the same waits for one look", async () => {
  const looks = createLooks(10 * MEGABYTE);
  const first = hold();
  const both = [
    looks.share("a", ours, first.begin),
    looks.share("a", ours, () => Promise.reject(new Error("a second look"))),
  ];
  first.end();
  expect(await Promise.all(both)).toEqual([FORM, FORM]);
});

test("an organisation has so many bytes looked at, small files counted for a megabyte, and more when some have ended", async () => {
  const looks = createLooks(10 * MEGABYTE);
  const [first, second, third] = [hold(), hold(), hold()];
  const running = [looks.share("a", ours, first.begin), looks.share("b", ours, second.begin)];
  const small = { organisationId: "ours", bytes: 1 };
  await expect(looks.share("c", small, third.begin)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  const other = looks.share("c", { ...small, organisationId: "other" }, third.begin);
  first.end();
  expect(await running[0]).toBe(FORM);
  const later = looks.share("d", small, third.begin);
  second.end();
  third.end();
  expect(await Promise.all([...running, other, later])).toEqual([FORM, FORM, FORM, FORM]);
});

test("a look that fails counts no more, and one alone may be of any size", async () => {
  const looks = createLooks(MEGABYTE);
  await expect(looks.share("a", ours, () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  expect(await looks.share("a", ours, async () => FORM)).toBe(FORM);
});
