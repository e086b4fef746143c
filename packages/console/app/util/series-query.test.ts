import { expect, test } from "vitest";
import { toSeriesQuery } from "./series-query.ts";

test("what is asked begins with a whole step, so that what opens within one step is asked once", () => {
  const at = Date.parse("2026-03-01T10:07:31Z");
  expect(toSeriesQuery("hour", at)).toEqual({ from: "2026-03-01 09:07:00", step: "60" });
  expect(toSeriesQuery("day", at)).toEqual({ from: "2026-02-28 10:05:00", step: "300" });
  expect(toSeriesQuery("week", at)).toEqual({ from: "2026-02-22 10:00:00", step: "3600" });
  expect(toSeriesQuery("hour", at + 20_000)).toEqual(toSeriesQuery("hour", at));
});
