import { defineConfig } from "vitest/config";
import { SECOND } from "@platform/engine/base/time";

/** Limits are for what hangs, not for what is slow: half a core with other work needs ten times as long as a quiet machine. */
const COMMON = {
  expect: { poll: { timeout: 60 * SECOND, interval: 20 } },
  setupFiles: ["tools/test-watchdog.ts"],
  testTimeout: 240 * SECOND,
  hookTimeout: 240 * SECOND,
  teardownTimeout: 60 * SECOND,
};

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...COMMON,
          name: "unit",
          include: ["packages/*/src/**/*.test.ts", "tools/**/*.test.ts"],
          globalSetup: ["packages/platform/src/testing/global-setup.ts"],
        },
      },
      {
        test: {
          ...COMMON,
          name: "e2e",
          include: ["tests/e2e/**/*.test.ts"],
          fileParallelism: false,
        },
      },
      {
        test: {
          ...COMMON,
          name: "clients",
          include: ["tests/clients/*.test.ts"],
          fileParallelism: false,
        },
      },
    ],
  },
});
