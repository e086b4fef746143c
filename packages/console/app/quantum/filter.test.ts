import { expect, test } from "vitest";
import { isFiltered, quantumJobsSearch, toQuery } from "./filter.ts";

test("pages begin with 1 for people and with 0 for the platform, and what is not set is not sent", () => {
  expect(toQuery(quantumJobsSearch({}))).toEqual({ page: 0, size: 25 });
  expect(toQuery(quantumJobsSearch({ page: "3" as never, tag: "vqe" }))).toEqual({
    page: 2,
    size: 25,
    tag: ["vqe"],
  });
  expect(toQuery(quantumJobsSearch({ page: "0" as never }))).toMatchObject({ page: 0 });
});

test("what the platform would refuse is cut or left out", () => {
  const query = toQuery(
    quantumJobsSearch({ tag: "t".repeat(80), backend: "b".repeat(80), status: "DETACHED" as never }),
  );
  expect(query).toEqual({ page: 0, size: 25, tag: ["t".repeat(64)], backendId: "b".repeat(63) });
});

test("a page alone is no filter", () => {
  expect(isFiltered(quantumJobsSearch({ page: 2 }))).toBe(false);
  expect(isFiltered(quantumJobsSearch({ page: 2, name: "ghz" }))).toBe(true);
});
