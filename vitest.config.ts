import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { SECOND } from "@platform/engine/base/time";
import { IS_FULL_LENGTH } from "@platform/engine/testing/full-length";
import { findChromium } from "./tools/chromium.ts";
import { LongestFirst } from "./tools/longest-first.ts";
import { findS3Server } from "./tools/s3-server.ts";
import { FULL, TestReport } from "./tools/test-report.ts";

/**
 * Files that run at one time, of all projects: a file uses a processor for less than half of its time, and waits for processes in the rest.
 * One processor is taken for a machine under strain (`.ci/run --confined`).
 */
const PROCESSORS = availableParallelism();
const MAX_WORKERS = PROCESSORS === 1 ? 1 : PROCESSORS + 2;

/** Limits are for what hangs, not for what is slow: half a core with other work needs ten times as long as a quiet machine. */
const COMMON = {
  expect: { poll: { timeout: 60 * SECOND, interval: 20 } },
  setupFiles: ["tools/test-watchdog.ts"],
  testTimeout: 600 * SECOND,
  hookTimeout: 600 * SECOND,
  teardownTimeout: 60 * SECOND,
  maxWorkers: MAX_WORKERS,
  sequence: { groupOrder: 1 },
};

/** Projects that start platforms: each look is a request, and asks what runs beside for a processor. */
const WITH_PLATFORMS = {
  ...COMMON,
  expect: { poll: { ...COMMON.expect.poll, interval: 60 } },
  globalSetup: ["tests/support/prepared-database.ts"],
};

const S3_STORIES = IS_FULL_LENGTH ? ["data-pools", "result-files", "retention"] : ["result-files"];

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    tags: [
      { name: FULL, description: "A rarer or longer form of what others hold: `npm test` leaves it out." },
    ],
    reporters: ["default", new TestReport()],
    projects: [
      {
        test: {
          ...COMMON,
          name: "unit",
          // What they import takes as long as they do: files share processes, which hold it. A single process that hangs would be the end of all.
          isolate: MAX_WORKERS === 1,
          setupFiles: [...COMMON.setupFiles, "tools/test-leftovers.ts"],
          include: ["packages/*/src/**/*.test.ts", "packages/console/app/**/*.test.ts", "tools/**/*.test.ts"],
          globalSetup: ["packages/platform/src/testing/global-setup.ts"],
        },
      },
      {
        test: {
          ...WITH_PLATFORMS,
          name: "e2e",
          setupFiles: [...COMMON.setupFiles, "tests/support/s3-store.ts"],
          include: ["tests/e2e/**/*.test.ts"],
        },
      },
      {
        test: {
          ...WITH_PLATFORMS,
          // The stories in which the store of objects matters most, on a bucket; all of them: npm run test:s3.
          name: "s3",
          setupFiles: [...COMMON.setupFiles, "tests/support/s3-store.ts"],
          include: findS3Server() === null ? [] : S3_STORIES.map((name) => `tests/e2e/${name}.test.ts`),
          env: { PLATFORM_TEST_STORE: "s3" },
        },
      },
      {
        test: {
          ...WITH_PLATFORMS,
          name: "console",
          // First, with nothing beside it: pages are slow where others take the processors, and a run says how long its stories take.
          sequence: { groupOrder: 0 },
          // They share browsers (tests/e2e/console/support/browser.ts).
          isolate: MAX_WORKERS === 1,
          setupFiles: [...COMMON.setupFiles, "tools/test-leftovers.ts"],
          include: findChromium() === null ? [] : ["tests/e2e/console/*.e2e.ts"],
          globalSetup: [...WITH_PLATFORMS.globalSetup, "tests/e2e/console/support/global-setup.ts"],
        },
      },
      {
        test: {
          ...WITH_PLATFORMS,
          name: "clients",
          include: ["tests/clients/*.test.ts"],
        },
      },
      {
        test: {
          ...WITH_PLATFORMS,
          name: "quantum",
          include: ["tests/quantum/*.test.ts"],
        },
      },
    ],
  },
});
