import { spawn } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findExecutables, SYSTEM_FOLDERS } from "../../../host/find-executables.ts";
import { TrustedExecutable } from "../../../host/trusted-executable.ts";
import { waitUntil } from "../../../testing/wait-until.ts";
import { listChildren } from "../../watch/process-files.ts";
import { openEgress } from "./egress.ts";
import type { EgressTools } from "./egress-tools.ts";
import { findEgress, tryEgress } from "./find-egress.ts";
import { enterNetwork } from "./namespaces.ts";
import { planNetwork } from "./network-plan.ts";

const [bubblewrap] = await findExecutables("bwrap", `${process.env["PATH"] ?? ""}:${SYSTEM_FOLDERS}`);
const found = bubblewrap === undefined ? null : await findEgress(bubblewrap, process.env["PATH"] ?? "");
const tools = found === null || "piece" in found ? null : found;

function readName(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return ""; // it has ended
  }
}

/** Those that are called slirp4netns, among processes and their descendants. */
function findSlirps(pids: readonly number[]): readonly number[] {
  return pids.flatMap((pid) => {
    const own = readName(pid) === "slirp4netns" ? [pid] : [];
    return [...own, ...findSlirps(listChildren(pid))];
  });
}

/** A process in namespaces of its own, as that of a version. */
async function startHolder({ unshare, owner }: EgressTools): Promise<ChildProcessWithoutNullStreams> {
  const user = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const holder = spawn(unshare.path, enterNetwork(owner, user, ["/bin/cat"]));
  holder.stdin.write("\n");
  await once(holder.stdout, "data");
  return holder;
}

test.runIf(tools !== null)(
  "the processes of a way out are known, also after the first was replaced",
  async () => {
    if (tools === null) return;
    const holder = await startHolder(tools);
    const egress = await openEgress(tools, holder.pid ?? 0, planNetwork(null, []));
    try {
      const [first, ...others] = findSlirps(egress.listProcesses());
      expect(others).toEqual([]);
      process.kill(first ?? 0, "SIGKILL");
      await waitUntil(() => findSlirps(egress.listProcesses()).some((pid) => pid !== first));
    } finally {
      egress.close();
      holder.kill("SIGKILL");
    }
  },
);

test.runIf(tools !== null)(
  "of a way out that cannot be opened no process is left: not the one either that waits to set it up",
  async () => {
    if (tools === null) return;
    const holder = await startHolder(tools);
    const before = listChildren(process.pid);
    const slirp = TrustedExecutable.vouchFor("/bin/false", "named by the operator");
    const opening = openEgress({ ...tools, slirp }, holder.pid ?? 0, planNetwork(null, []));
    await expect(opening).rejects.toThrow("slirp4netns ended");
    await waitUntil(() => listChildren(process.pid).every((pid) => before.includes(pid)));
    holder.kill("SIGKILL");
  },
);

test.runIf(tools !== null)(
  "a namespace that is never made is waited for twice, with a limit, and leaves no process",
  async () => {
    if (tools === null) return;
    const folder = mkdtempSync(join(tmpdir(), "egress-"));
    const path = join(folder, "unshare");
    writeFileSync(path, "#!/bin/sh\nexec sleep 600\n", { mode: 0o755 });
    const before = listChildren(process.pid);
    try {
      const unshare = TrustedExecutable.vouchFor(path, "named by the operator");
      const fault = await tryEgress({ ...tools, unshare }, { times: [1, 100] });
      expect(fault).toMatch(/^It could not be tried: unshare took longer than 0.1 s, at the second try too/u);
      await waitUntil(() => listChildren(process.pid).every((pid) => before.includes(pid)));
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);
