import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { SECOND } from "@platform/engine/base/time";
import { findS3Server } from "./tools/s3-server.ts";

/** Limits are for what hangs, not for what is slow: half a core with other work needs ten times as long as a quiet machine. */
const COMMON = {
  expect: { poll: { timeout: 60 * SECOND, interval: 20 } },
  setupFiles: ["tools/test-watchdog.ts"],
  testTimeout: 240 * SECOND,
  hookTimeout: 240 * SECOND,
  teardownTimeout: 60 * SECOND,
};

const S3_STORIES = ["data-pools", "result-files", "retention"];

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...COMMON,
          name: "unit",
          // Not one less, as by default: most files wait for processes half of their time.
          maxWorkers: availableParallelism(),
          sequence: { groupOrder: 1 },
          include: ["packages/*/src/**/*.test.ts", "tools/**/*.test.ts"],
          globalSetup: ["packages/platform/src/testing/global-setup.ts"],
        },
      },
      {
        test: {
          ...COMMON,
          name: "e2e",
          setupFiles: [...COMMON.setupFiles, "tests/support/s3-store.ts"],
          sequence: { groupOrder: 2 },
          include: ["tests/e2e/**/*.test.ts"],
          fileParallelism: false,
        },
      },
      {
        test: {
          ...COMMON,
          // The stories in which the store of objects matters most, on a bucket; all of them: npm run test:s3.
          name: "s3",
          setupFiles: [...COMMON.setupFiles, "tests/support/s3-store.ts"],
          sequence: { groupOrder: 3 },
          include: findS3Server() === null ? [] : S3_STORIES.map((name) => `tests/e2e/${name}.test.ts`),
          env: { PLATFORM_TEST_STORE: "s3" },
          fileParallelism: false,
        },
      },
      {
        test: {
          ...COMMON,
          name: "clients",
          sequence: { groupOrder: 4 },
          include: ["tests/clients/*.test.ts"],
          fileParallelism: false,
        },
      },
    ],
  },
});
