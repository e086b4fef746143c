/* vitest setup file of files that share a process: what a test has left, because it was red, is nothing to those of the next file. */
import { afterAll, vi } from "vitest";

afterAll(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});
