import { resolve } from "node:path";
import { findServeAssets } from "../base/assets.ts";
import type { CommandResult } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { cleanText } from "../base/output.ts";
import { openSession } from "../base/session.ts";
import type { ReplayResult } from "../replay/replay.ts";

/** Options of `run --replay`. */
export interface ReplayOptions {
  readonly id: string;
  readonly pools: string;
  readonly envFile: string | undefined;
  /** Seconds; may be infinite. */
  readonly timeout: number;
}

/** Runs an execution of the platform on this machine, and says whether the result is the same. */
export async function replayExecution(
  context: CommandContext,
  { id, pools, envFile, timeout }: ReplayOptions,
): Promise<CommandResult> {
  // Loaded on demand, as by `serve`.
  const { replay } = await import("../replay/replay.ts");
  const session = await openSession(context);
  const { directory, settings, output, signal } = context;
  const progress = output.startProgress(`Replaying ${cleanText(id)}`);
  let replayed: ReplayResult;
  try {
    replayed = await replay(session, {
      id,
      timeoutSeconds: timeout,
      environmentFile: envFile === undefined ? null : resolve(directory, envFile),
      dataPoolsDirectory: resolve(directory, pools),
      settings,
      output,
      signal,
      ...findServeAssets(),
    });
  } finally {
    progress.stop();
  }
  printReplay(context, replayed);
  return { json: { id, ...replayed }, succeeded: replayed.isIdentical };
}

function printReplay({ output }: CommandContext, replayed: ReplayResult): void {
  const { isIdentical, status, code, difference, same, service, version, python } = replayed;
  output.print(`Replayed   ${cleanText(`${service} ${version}`)} with Python ${python}`);
  for (const [name, isSame] of Object.entries(same))
    output.print(`  ${name.padEnd(12)} ${isSame ? "same" : output.paint("yellow", "differs")}`);
  const verdict = isIdentical ? output.paint("green", "identical") : output.paint("red", "differs");
  output.print(`Result     ${verdict}`);
  if (status.original !== status.local || code !== undefined) {
    const describe = (side: "original" | "local") =>
      cleanText(`${status[side]} ${code?.[side] ?? ""}`.trim());
    output.print(`  original   ${describe("original")}`);
    output.print(`  local      ${describe("local")}`);
  }
  if (difference === null) return;
  output.print(`  The first difference is at byte ${difference.offset}:`);
  output.print(`  original   ${cleanText(JSON.stringify(difference.original))}`);
  output.print(`  local      ${cleanText(JSON.stringify(difference.local))}`);
}
