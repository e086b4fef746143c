import { isAtLeast } from "@platform/contract/sandbox";
import type { SandboxLevel } from "@platform/contract/sandbox";
import type { PythonRuntimeOptions } from "../python/port/settings.ts";
import { createFixture, findTestSandbox } from "./python-fixture.ts";
import type { Fixture } from "./python-fixture.ts";
import { IS_FULL_LENGTH } from "./full-length.ts";

const { level: best, missing } = (await findTestSandbox()).report;

/** The isolated levels that this machine offers, as this user. */
const OFFERED_LEVELS: readonly SandboxLevel[] = (["A", "B", "C"] as const).filter(
  (level) => isAtLeast(best, level) && (level !== "C" || missing.every(({ piece }) => piece !== "Landlock")),
);

/** The same without B where there are A and C: what differs between the two is control groups. */
export const FILTERED_LEVELS: readonly SandboxLevel[] = OFFERED_LEVELS.filter(
  (level, _, all) => level !== "B" || best === "B" || !all.includes("C"),
);

/** The levels at which what code does is tried: B beside A at full length alone. */
export const ATTACKED_LEVELS: readonly SandboxLevel[] = IS_FULL_LENGTH ? OFFERED_LEVELS : FILTERED_LEVELS;

/** A runtime at exactly this level: what better ones need is taken away. */
export async function createAttackedFixture(
  level: SandboxLevel,
  options: Partial<PythonRuntimeOptions> = {},
): Promise<Fixture> {
  if (level !== "B") return createFixture(options, level);
  return createFixture({ ...options, sandbox: { ...(await findTestSandbox()), cgroups: null } });
}
