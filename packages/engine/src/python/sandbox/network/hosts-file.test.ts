import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { rewriteHosts } from "./hosts-file.ts";

test("a hosts file is written in place, and gets shorter", () => {
  const folder = mkdtempSync(join(tmpdir(), "hosts-"));
  const path = join(folder, "hosts");
  const descriptor = openSync(path, "w");
  const notices: string[] = [];
  for (const lines of [["192.0.2.1 one.example", "192.0.2.2 two.example"], ["192.0.2.3 one.example"]])
    rewriteHosts(descriptor, lines, (notice) => void notices.push(notice));
  closeSync(descriptor);
  const text = readFileSync(path, "utf8");
  rmSync(folder, { recursive: true });
  expect([text.split("\n").slice(2), notices]).toEqual([["192.0.2.3 one.example", ""], []]);
});

test.runIf(process.platform === "linux")("a full disk is said, and ends nothing", () => {
  const descriptor = openSync("/dev/full", "w");
  const notices: string[] = [];
  rewriteHosts(descriptor, [], (notice) => void notices.push(notice));
  closeSync(descriptor);
  expect(notices).toEqual([
    expect.stringMatching(/could not be written \(ENOSPC.*\); it is tried again\.$/u),
  ]);
});
