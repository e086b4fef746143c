import type { SandboxLevel } from "@platform/contract/sandbox";
import { ATTACKED_LEVELS } from "./attack-levels.ts";
import { createFixture, findTestSandbox } from "./python-fixture.ts";
import type { Fixture } from "./python-fixture.ts";
import { IS_FULL_LENGTH } from "./full-length.ts";

/** Who enforces and measures the limits of an execution as a whole: the kernel, by control groups, or looks at its processes. */
type Bounds = "control groups" | "looks";

/** The levels that are attacked, level C with control groups (if there are any) and without; without alone beside A unless at full length. */
export const LIMITED_LEVELS: readonly (readonly [level: SandboxLevel, bounds: Bounds])[] = await list();

async function list(): Promise<typeof LIMITED_LEVELS> {
  const { cgroups } = await findTestSandbox();
  const found: Array<readonly [SandboxLevel, Bounds]> = [];
  for (const level of ATTACKED_LEVELS) {
    const isTwice = level === "C" && ATTACKED_LEVELS.length > 1 && !IS_FULL_LENGTH;
    if (cgroups !== null && level !== "B" && !isTwice) found.push([level, "control groups"]);
    if (level !== "A") found.push([level, "looks"]);
  }
  return found;
}

/** A runtime at exactly this level, with these bounds. */
export async function createLimitedFixture(level: SandboxLevel, bounds: Bounds): Promise<Fixture> {
  const sandbox = await findTestSandbox(level === "C" ? { bubblewrapPath: "/nonexistent" } : {});
  return createFixture({ sandbox: bounds === "looks" ? { ...sandbox, cgroups: null } : sandbox });
}
