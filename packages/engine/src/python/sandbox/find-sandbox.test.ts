import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { isAtLeast } from "@platform/contract/sandbox";
import type { SandboxReport } from "@platform/contract/sandbox";
import { TrustedExecutable } from "../../host/trusted-executable.ts";
import { prepareBubblewrap } from "./bubblewrap.ts";
import { prepareConfined } from "./confined.ts";
import { describeShortfall } from "./grade.ts";
import { DEFAULT_NETWORK_POLICY } from "./network/network-policy.ts";
import { copyRunner, RUNNER_DIRECTORY } from "./runner-files.ts";
import type { SandboxLaunch } from "./sandbox.ts";
import { findTestSandbox } from "../../testing/python-fixture.ts";
import { createSandboxUsers } from "./users.ts";

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "sandbox-"));
  chmodSync(directory, 0o755); // bwrap is tried as the uid that versions run as
});
afterAll(() => rmSync(directory, { recursive: true }));

/** A kernel may have been started without it (`lsm=`). */
const HAS_LANDLOCK = (await findTestSandbox()).report.missing.every(({ piece }) => piece !== "Landlock");

test("the best sandbox that works is found", async () => {
  const { report, cgroups } = await findTestSandbox();
  expect(report.level).toBe(cgroups !== null && HAS_LANDLOCK ? "A" : "B");
  expect(report.missing.some(({ piece }) => piece === "control groups")).toBe(cgroups === null);
});

test("versions of an ordinary user's worker share its counts, which the report says", async () => {
  const { report } = await findTestSandbox();
  const shared = report.missing.filter(({ piece }) => piece === "users of their own");
  const isTold = shared.some(({ why }) => why.includes("epoll"));
  expect(isTold).toBe(process.getuid?.() !== 0);
});

test("a folder for temporary files that only this process can enter changes nothing", async () => {
  const before = await findTestSandbox();
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv("TMPDIR", mkdtempSync(join(directory, "closed-")));
  const { report } = await findTestSandbox();
  expect(report.level).toBe(before.report.level);
});

test("without bubblewrap, Landlock and seccomp are what is left", async () => {
  const { report } = await findTestSandbox({ bubblewrapPath: join(directory, "absent") });
  expect(report.level).toBe(HAS_LANDLOCK ? "C" : "D");
});

test("a machine without bubblewrap is told what to install", async () => {
  const { report } = await findTestSandbox({ bubblewrapPath: join(directory, "absent") });
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
  const { report } = await findTestSandbox({ bubblewrapPath });
  expect(isAtLeast(report.level, "B")).toBe(false);
  expect(describeShortfall(report, "B")).toMatch(
    /No permissions to create new namespace.*Allow unprivileged user namespaces/su,
  );
  const network = report.missing.find(({ piece }) => piece === "network");
  expect(network?.why).toBe("It needs user namespaces.");
  expect(network?.remedy).toMatch(/^Allow unprivileged user namespaces/u);
});

test("where bubblewrap makes no user namespaces, versions have no network, also where root can connect one", async () => {
  const bubblewrapPath = join(directory, "bwrap-for-root");
  const script = `#!/bin/sh\ncase "$*" in *--unshare-user*) exit 1 ;; esac\nexec /usr/bin/bwrap "$@"\n`;
  writeFileSync(bubblewrapPath, script, { mode: 0o755 });
  const { report } = await findTestSandbox({ bubblewrapPath });
  expect(report.level).toBe(HAS_LANDLOCK ? "C" : "D");
  expect(report.missing.map(({ piece }) => piece)).toContain("network");
});

test("a sandbox that works no longer says which piece is missing, and how to get it", async () => {
  const bubblewrapPath = join(directory, "bwrap-for-a-while");
  writeFileSync(bubblewrapPath, '#!/bin/sh\nexec /usr/bin/bwrap "$@"\n', { mode: 0o755 });
  const { findFault } = await findTestSandbox({ bubblewrapPath });
  expect(await findFault()).toBeNull();
  writeFileSync(bubblewrapPath, "#!/bin/sh\necho 'No permissions' >&2\nexit 1\n");
  expect(await findFault()).toMatch(
    /^user namespaces: .*No permissions.*Allow unprivileged user namespaces/su,
  );
});

test("a trial that took too long is made again, with more time: the level is that of the machine, not of its load", async () => {
  const bubblewrapPath = join(directory, "bwrap-slow-once");
  const marker = join(directory, "was-slow");
  // As root, trials run as another user, which can make nothing in this folder: the first removes what it finds.
  mkdirSync(marker, { mode: 0o777 });
  chmodSync(marker, 0o777);
  writeFileSync(join(marker, "first"), "");
  const isLate = `rm ${marker}/first 2>/dev/null && exec sleep 60`;
  const script = `#!/bin/sh\ncase "$*" in *"trial namespaces"*) ${isLate} ;; esac\nexec /usr/bin/bwrap "$@"\n`;
  writeFileSync(bubblewrapPath, script, { mode: 0o755 });
  const { report } = await findTestSandbox({ bubblewrapPath, trialTimes: [3000, 60_000] });
  expect(existsSync(join(marker, "first"))).toBe(false);
  expect(listPieces(report)).toEqual(listPieces((await findTestSandbox()).report));
});

/** What is missing besides the network, which ordinary users may not have, whatever the level. */
function listPieces({ missing }: SandboxReport): string[] {
  return missing.map(({ piece }) => piece).filter((piece) => piece !== "network");
}

test("a trial that takes too long twice is not said to have failed, and what it was started with is not shown", async () => {
  const bubblewrapPath = join(directory, "bwrap-slow");
  const script = `#!/bin/sh\ncase "$*" in *"trial namespaces"*) exec sleep 60 ;; esac\nexec /usr/bin/bwrap "$@"\n`;
  writeFileSync(bubblewrapPath, script, { mode: 0o755 });
  const slow = await findTestSandbox({ bubblewrapPath, trialTimes: [100, 200] });
  const why = slow.report.missing.find(({ piece }) => piece === "user namespaces")?.why;
  expect(why).toBe(
    "It could not be tried: bwrap-slow took longer than 0.2 s, at the second try too. On a machine that is less busy the level may be higher.",
  );
  const python = join(directory, "python3");
  writeFileSync(python, "#!/bin/sh\nexec sleep 60\n", { mode: 0o755 });
  const interpreter = TrustedExecutable.vouchFor(python, "named by the operator");
  const { report } = await findTestSandbox({ interpreter, trialTimes: [100, 200] });
  for (const piece of ["seccomp", "Landlock"])
    expect(report.missing.find((missing) => missing.piece === piece)?.why).toMatch(
      /^It could not be tried: python3 took longer than 0\.2 s/u,
    );
  // A shell may be that fast where this process is held up.
  await expect
    .poll(async () => {
      const { missing } = (await findTestSandbox({ interpreter, trialTimes: [1, 1] })).report;
      return missing.find(({ piece }) => piece === "control groups")?.why;
    })
    .toMatch(
      /^(?:It could not be tried: a process that joins control groups took longer|No control groups? )/u,
    );
});

test("a sandbox that cannot be tried says so: nobody waits for the answer in vain", async () => {
  const runnerDirectory = join(directory, "runner");
  copyRunner(RUNNER_DIRECTORY, runnerDirectory);
  const { findFault } = await findTestSandbox({ runnerDirectory });
  rmSync(runnerDirectory, { recursive: true });
  expect(await findFault()).toMatch(/^The isolation could not be tried \(ENOENT/u);
});

const PATHS = {
  projectDirectory: "/p",
  runnerDirectory: "/r",
  readablePaths: ["/usr/lib/x", "/opt/env"],
  children: 1,
  isGrouped: true,
  network: null,
  resources: { cpu: 1, memory: 1 },
  onNotice: () => undefined,
};

function createSandbox(uid: number) {
  const options = {
    architecture: "x86_64",
    executable: TrustedExecutable.vouchFor("/usr/bin/bwrap", "named by the operator"),
    takeUser: createSandboxUsers({ uidBase: 300_000, uidCount: 2, uid, gid: uid, trustsCode: false }),
    bounds: null,
    networks: { policy: DEFAULT_NETWORK_POLICY, egress: null, fallback: "none" },
  } as const;
  return async (zygoteDirectory = mkdtempSync(join(directory, "zygote-"))): Promise<SandboxLaunch> => {
    chmodSync(zygoteDirectory, 0o711);
    return prepareBubblewrap(options, { ...PATHS, zygoteDirectory });
  };
}

const IS_ROOT = process.getuid?.() === 0;

test.runIf(IS_ROOT)(
  "root starts each version as a user of its own, and takes it back at the end",
  async () => {
    const prepare = createSandbox(0);
    const folder = mkdtempSync(join(directory, "zygote-"));
    const first = await prepare(folder);
    const { uid, mode } = statSync(folder);
    expect([first.uid, first.gid, mode & 0o777]).toEqual([uid, uid, 0o700]);
    // The first is taken at random, see createSandboxUsers.
    expect(new Set([uid, (await prepare()).uid])).toEqual(new Set([300_000, 300_001]));
    await expect(prepare()).rejects.toThrow(/all 2 uids/u);
    first.release();
    expect((await prepare()).uid).toBe(uid);
  },
);

test.runIf(IS_ROOT)("a version of level C that cannot be prepared gives its user back", async () => {
  const takeUser = createSandboxUsers({ uidBase: 300_000, uidCount: 1, uid: 0, gid: 0, trustsCode: false });
  const options = {
    interpreter: TrustedExecutable.vouchFor("/usr/bin/python3", "named by the operator"),
    architecture: "x86_64",
    siblings: "unsignalled",
    takeUser,
    networks: { policy: DEFAULT_NETWORK_POLICY, egress: null, fallback: "none" },
  } as const;
  const prepared = prepareConfined(options, { ...PATHS, zygoteDirectory: join(directory, "absent") });
  await expect(prepared).rejects.toThrow(/ENOENT/u);
  expect(takeUser().uid).toBe(300_000);
});

test("an ordinary user starts versions as itself; what lies below /usr is bound once", async () => {
  const launch = await createSandbox(1000)();
  expect(launch.uid).toBeUndefined();
  const command = launch.wrap(["python3", "-I"]);
  expect(command.executable.path).toBe("/usr/bin/bwrap");
  expect(command.args.slice(-3)).toEqual(["--", "python3", "-I"]);
  expect(command.args.join(" ")).toContain("--ro-bind /opt/env /opt/env");
  expect(command.args.join(" ")).not.toContain("/usr/lib/x");
});
