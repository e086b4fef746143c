import type { RawJson } from "@platform/contract/client";
import { isRecord } from "@platform/engine/base/json";
import { getMessage } from "@platform/engine/base/thrown";
import { createUsageError } from "../base/errors.ts";
import type { ReadCircuit } from "./read-circuit.ts";

/** Options of `quantum run` that say what is run, and how. */
export interface JobOptions {
  /** JSON text. */
  readonly params?: string | undefined;
  readonly seed?: number | undefined;
  readonly shots?: number | undefined;
  readonly name?: string | undefined;
  /** Separated by commas. */
  readonly tags?: string | undefined;
  readonly maxCost?: string | undefined;
  readonly session?: string | undefined;
  readonly dryRun: boolean;
  readonly cache: boolean;
}

const EXAMPLE = 'Example: --params \'{"method": "automatic"}\'';

/**
 * The body of the start of a job. JSON that was given is sent as it was, so that numbers keep all their digits.
 *
 * @throws UserError USAGE
 */
export function buildJobBody(backendId: string, circuit: ReadCircuit, options: JobOptions): RawJson {
  const { shots, name, tags, maxCost, session, dryRun, cache } = options;
  const params = readParams(options.params);
  const isSeeded = options.seed !== undefined || (params.value["seed"] ?? null) !== null;
  if (cache && !isSeeded) throw createUsageError("--cache is for jobs with a seed: add --seed.");
  const members = {
    backend_id: backendId,
    input_format: circuit.format,
    shots,
    name,
    tags: tags?.split(",").map((tag) => tag.trim()),
    max_cost: maxCost,
    session_id: session,
    dry_run: dryRun ? true : undefined,
    cache: cache ? true : undefined,
    sdk_provider: "CLIENT",
  };
  const more = `"input":${circuit.inputText},"input_params":${withSeed(params, options.seed)}`;
  return { json: `${JSON.stringify(members).slice(0, -1)},${more}}` };
}

interface Params {
  readonly text: string;
  readonly value: Readonly<Record<string, unknown>>;
}

function readParams(given = "{}"): Params {
  let value: unknown;
  try {
    value = JSON.parse(given);
  } catch (error) {
    throw createUsageError(`--params is not JSON: ${getMessage(error)}.`, EXAMPLE);
  }
  if (!isRecord(value)) throw createUsageError("--params must contain a JSON object.", EXAMPLE);
  return { text: given.trim(), value };
}

/** Of two members with one name, the last counts. */
function withSeed({ text, value }: Params, seed: number | undefined): string {
  if (seed === undefined) return text;
  const comma = Object.keys(value).length === 0 ? "" : ",";
  return `${text.slice(0, -1)}${comma}"seed":${seed}}`;
}
