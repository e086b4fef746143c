import { relative } from "node:path";
import type { TestSpecification } from "vitest/node";
import { BaseSequencer } from "vitest/node";
import { REPOSITORY } from "./platform-process.ts";

/** Files that take much longer than their size says, the longest first. */
const LONGEST = [
  "tests/e2e/console/every-page.e2e.ts",
  "tests/e2e/console/organisation.e2e.ts",
  "tests/e2e/console/tour.e2e.ts",
  "tests/e2e/console/operator.e2e.ts",
  "packages/platform/src/store/executions/execution-store.test.ts",
  "packages/engine/src/store/memory-store.test.ts",
] as const;

/**
 * Begins with the files of each project that take the longest. Of files that it has never run, Vitest takes the largest first: a small one
 * that takes minutes would be the last, and nothing would run beside it.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const projects = new Set(sorted.map(({ project }) => project.name));
    return [...projects].flatMap((name) =>
      sorted.filter(({ project }) => project.name === name).toSorted((one, other) => rank(one) - rank(other)),
    );
  }
}

function rank({ moduleId }: TestSpecification): number {
  const path = relative(REPOSITORY, moduleId);
  const found = LONGEST.findIndex((one) => one === path);
  return found < 0 ? LONGEST.length : found;
}
