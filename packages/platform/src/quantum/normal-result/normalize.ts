import type { NormalCircuit, NormalResult } from "@platform/contract/quantum-api/normal";
import { isRecord } from "@platform/engine/base/json";
import type { JobFacts } from "../../store/quantum-jobs.ts";
import { MOST_AXES } from "./budget.ts";
import type { Budget } from "./budget.ts";
import { readDialect } from "./dialects.ts";
import { readSamples } from "./samples.ts";
import { countShots } from "./shots.ts";

/*
 * Results in one form, whatever form they were asked for in. What a backend has returned is somebody's: what does not have a form exactly has none, and
 * what is large is counted in steps, so that others are answered meanwhile.
 */

/** How the job was sent, as far as it decides what its result means. */
export type SentAs = Pick<JobFacts, "inputFormat" | "inputParams" | "shots">;

/** Null: it has none of the forms. @throws Problem NO_NORMAL_FORM for what is too large */
export async function normalizeResult(
  result: unknown,
  sent: SentAs,
  budget: Budget,
): Promise<NormalResult | null> {
  if (isRecord(result) && isRecord(result["sampleset"])) {
    const samples = readSamples(result["sampleset"], budget);
    return samples === null ? null : { samples: [...samples] };
  }
  const pubs = isRecord(result) ? result["pubs"] : undefined;
  const circuits = Array.isArray(pubs)
    ? await readPubs(pubs, budget)
    : await readDialect(result, sent, budget);
  return circuits === null || circuits.length === 0 ? null : { circuits: [...circuits] };
}

async function readPubs(pubs: readonly unknown[], budget: Budget): Promise<readonly NormalCircuit[] | null> {
  const circuits: NormalCircuit[] = [];
  for (const pub of pubs) {
    const found = isRecord(pub) ? await readPub(pub, budget) : null;
    if (found === null) return null;
    for (const one of found) circuits.push(one);
  }
  return circuits;
}

async function readPub(
  pub: Readonly<Record<string, unknown>>,
  budget: Budget,
): Promise<readonly NormalCircuit[] | null> {
  const name = typeof pub["name"] === "string" ? pub["name"] : null;
  if (Array.isArray(pub["registers"])) return await countShots(name, pub["registers"], budget);
  if (pub["counts"] !== undefined)
    return (await readDialect(pub, null, budget))?.map((one) => ({ ...one, name })) ?? null;
  const { evs, stds } = pub;
  if (!areNumbers(evs, budget) || (stds !== undefined && !areNumbers(stds, budget))) return null;
  return [{ name, index: [], shots: null, evs, ...(stds === undefined ? {} : { stds }) }];
}

function isNumber(value: unknown): boolean {
  return typeof value === "number" || value === null;
}

/** A number, or lists of numbers; null stands for what is no number, such as an infinite one. */
function areNumbers(value: unknown, budget: Budget): boolean {
  if (value === undefined) return false;
  let level: readonly unknown[] = [value];
  for (let axis = 0; level.length > 0; axis++) {
    budget.spend(level.length);
    if (axis > MOST_AXES || !level.every((one) => Array.isArray(one) || isNumber(one))) return false;
    level = level.filter((one) => Array.isArray(one)).flat();
  }
  return true;
}
