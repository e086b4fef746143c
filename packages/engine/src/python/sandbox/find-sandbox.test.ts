import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isAtLeast } from "@platform/contract/sandbox";
import { TrustedExecutable } from "../../host/trusted-executable.ts";
import { createBubblewrapSandbox } from "./bubblewrap.ts";
import { findSandbox } from "./find-sandbox.ts";
import { describeShortfall } from "./grade.ts";
import { DEFAULT_NETWORK_POLICY } from "./network/network-policy.ts";
import type { SandboxLaunch } from "./sandbox.ts";

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "sandbox-"));
  chmodSync(directory, 0o755); // bwrap is tried as the uid that versions run as
});
afterAll(() => rmSync(directory, { recursive: true }));

const SEARCH_PATH = process.env["PATH"] ?? "";

test("the best sandbox that works is found", async () => {
  const { report, cgroups } = await findSandbox({ searchPath: SEARCH_PATH });
  expect(report.level).toBe("B");
  expect(report.missing.some(({ piece }) => piece === "control groups")).toBe(cgroups === null);
});

test("a machine without bubblewrap is told what to install", async () => {
  const { report } = await findSandbox({ bubblewrapPath: join(directory, "absent") });
  expect(isAtLeast(report.level, "B")).toBe(false);
  expect(describeShortfall(report, "B")).toMatch(
    /is not an executable file\. Install the package `bubblewrap`/u,
  );
});

test("a bubblewrap that the kernel refuses is told apart from one that is missing", async () => {
  const bubblewrapPath = join(directory, "bwrap");
  writeFileSync(bubblewrapPath, "#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n", {
    mode: 0o755,
  });
  const { report } = await findSandbox({ bubblewrapPath });
  expect(isAtLeast(report.level, "B")).toBe(false);
  expect(describeShortfall(report, "B")).toMatch(
    /No permissions to create new namespace.*Allow unprivileged user namespaces/su,
  );
});

const IS_ROOT = process.getuid?.() === 0;
const PATHS = {
  projectDirectory: "/p",
  runnerDirectory: "/r",
  readablePaths: ["/usr/lib/x", "/opt/env"],
  network: null,
};
const NETWORKS = { policy: DEFAULT_NETWORK_POLICY, egress: null, fallback: "none" } as const;

test.runIf(IS_ROOT)(
  "root starts each version as a user of its own, and takes it back at the end",
  async () => {
    const sandbox = createBubblewrapSandbox({
      report: { level: "B", missing: [] },
      cgroups: null,
      executable: TrustedExecutable.vouchFor("/usr/bin/bwrap", "named by the operator"),
      architecture: "x86_64",
      uidBase: 300_000,
      uidCount: 2,
      uid: 0,
      gid: 0,
      networks: NETWORKS,
      findFault: async () => null,
    });
    const prepare = (): Promise<SandboxLaunch> =>
      sandbox.prepare({ ...PATHS, zygoteDirectory: mkdtempSync(join(directory, "zygote-")) });
    const first = await prepare();
    expect([first.uid, first.gid, (await prepare()).uid]).toEqual([300_000, 300_000, 300_001]);
    await expect(prepare()).rejects.toThrow(/all 2 uids/u);
    first.release();
    expect((await prepare()).uid).toBe(300_000);
  },
);

test("an ordinary user starts versions as itself; what lies below /usr is bound once", async () => {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  const own = { uid: IS_ROOT ? 1000 : uid, gid: IS_ROOT ? 1000 : gid };
  const sandbox = createBubblewrapSandbox({
    report: { level: "B", missing: [] },
    cgroups: null,
    executable: TrustedExecutable.vouchFor("/usr/bin/bwrap", "named by the operator"),
    architecture: "x86_64",
    uidBase: 300_000,
    uidCount: 2,
    ...own,
    networks: NETWORKS,
    findFault: async () => null,
  });
  const launch = await sandbox.prepare({
    ...PATHS,
    zygoteDirectory: mkdtempSync(join(directory, "zygote-")),
  });
  expect(launch.uid).toBeUndefined();
  const command = launch.wrap(["python3", "-I"]);
  expect(command.executable.path).toBe("/usr/bin/bwrap");
  expect(command.args.slice(-3)).toEqual(["--", "python3", "-I"]);
  expect(command.args.join(" ")).toContain("--ro-bind /opt/env /opt/env");
  expect(command.args.join(" ")).not.toContain("/usr/lib/x");
});
