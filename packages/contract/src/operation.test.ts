import { describe, expect, test } from "vitest";
import type { Operation } from "./operation.ts";
import { PLATFORM_API } from "./platform-api/platform-api.ts";
import { SERVICE_API } from "./service-api.ts";

type Path = readonly string[];

/** Of a path; a parameter is none. */
const WORD = /^[^{]+$/;

/** Whether such a word of the one is where the other has a parameter. */
const stands = (one: Path, other: Path, word: RegExp) =>
  one.some((part, at) => word.test(part) && other[at]?.startsWith("{"));

describe("the rows of the operation tables", () => {
  const rows: readonly (readonly [string, Operation])[] = [
    ...Object.entries(SERVICE_API),
    ...Object.entries(PLATFORM_API),
  ];

  test.each(rows)("%s reads without a trace, or names what it changes in the audit log", (_id, row) => {
    const reads = row.method === "GET";
    expect(row.audit === null).toBe(reads);
    expect(row.audit ?? "thing.read").toMatch(/^[a-z-]+\.[a-z]+$/);
    expect(row.rate === "read" || row.rate === "poll").toBe(reads);
  });

  test.each(rows)("%s takes and answers what its modes say", (_id, row) => {
    expect(row.body ? ["json", "optional", "raw", "batch"] : ["none", "stream", "file"]).toContain(
      row.bodyMode,
    );
    const answers = Object.values(row.responses).some((response) => response.schema !== undefined);
    expect(
      answers ? ["json", "bytes", "content", "json-or-events"] : ["none", "content", "events"],
    ).toContain(row.answerMode);
  });

  test.each(rows)(
    "%s is open to every caller only where all that it shows is the caller's own",
    (_id, row) => {
      const isOwn =
        row.scope === "user" ||
        row.scope === "application" ||
        row.scope === "subscription" ||
        row.scope === "local";
      expect(row.allows === "caller").toBe(isOwn);
      expect(row.allows === "public" || row.allows === "operator").toBe(row.scope === "platform");
    },
  );

  test.each([SERVICE_API, PLATFORM_API])(
    "have paths that could be taken for each other only where `batch` stands for an identifier, which is a UUID",
    (table) => {
      const operations: readonly Operation[] = Object.values(table);
      const paths: readonly Path[] = [...new Set(operations.map(({ path }) => path))].map((path) =>
        path.split("/"),
      );
      const unclear = paths.flatMap((one) =>
        paths
          .filter(
            (other) => one.length === other.length && stands(one, other, WORD) && stands(other, one, WORD),
          )
          .filter((other) => one.every((part, at) => part === other[at] || /\{/.test(`${part}${other[at]}`)))
          .map((other) => [one, other] as const),
      );
      expect(unclear.length).toBeGreaterThan(0);
      for (const [one, other] of unclear)
        expect(stands(one, other, /^batch$/) || stands(other, one, /^batch$/)).toBe(true);
    },
  );

  test("share an audit name with no other", () => {
    const names = rows.flatMap(([, { audit }]) => (audit === null ? [] : [audit]));
    expect(new Set(names).size).toBe(names.length);
  });
});
