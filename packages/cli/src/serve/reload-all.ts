import { getMessage } from "@platform/engine/base/thrown";
import type { Output } from "../base/output.ts";
import type { LocalPolicy } from "./local-policy.ts";
import type { LoadedVersion, LocalVersions } from "./local-versions.ts";

/** What edits change. */
interface Reloaded {
  readonly versions: Pick<LocalVersions, "load">;
  /** Null: there is none. */
  readonly policy: LocalPolicy | null;
  readonly output: Output;
}

/** Reads again what edits change, and knows how the last time went. */
export interface Reloads {
  readonly reload: () => Promise<void>;
  /** Why the project is still that of before; null: it is the new one. */
  readonly findFault: () => string | null;
}

/** Nothing has failed yet. */
export function createReloads(reloaded: Reloaded): Reloads {
  let fault: string | null = null;
  return {
    reload: async () => {
      fault = await reloadAll(reloaded);
    },
    findFault: () => fault,
  };
}

/**
 * Reads the policy again, and then the project; what is wrong with either is printed, and what was before stays.
 *
 * @returns why the project is still that of before; null: it is the new one
 */
async function reloadAll({ versions, policy, output }: Reloaded): Promise<string | null> {
  const said = await policy?.reload();
  if (typeof said === "string") output.note(said);
  try {
    const { project, failure } = await versions.load();
    if (failure === null) output.note(`Reloaded ${project.name}.`);
    else printFailure(failure, output);
    return null;
  } catch (error) {
    const message = getMessage(error);
    output.note(
      `${output.paintNote("red", "error:")} The project was not reloaded, the previous version is still served: ${message}`,
    );
    return message;
  }
}

/** Why the module could not be loaded. */
export function printFailure(failure: NonNullable<LoadedVersion["failure"]>, output: Output): void {
  if (failure.traceback !== null) output.note(failure.traceback.trimEnd());
  output.note(`${output.paintNote("red", "error:")} ${failure.code}: ${failure.detail}`);
  output.note("Executions fail with this error until it is fixed.");
}
