import type { QuantumJob } from "@platform/contract/quantum-api/jobs";
import { sliceMember } from "../util/exact-json.ts";

/** What of a job stays as it was sent, as JSON texts. */
interface SentTexts {
  readonly input: string;
  /** Its options. */
  readonly options: string;
}

/** The request that a job was started with, as JSON text; its input and options go in unchanged. `isOutside`: not in its session. */
export function toSameRequest(job: QuantumJob, { input, options }: SentTexts, isOutside = false): string {
  const { backend_id, input_format, shots, name, tags, dry_run, cache, max_cost, session_id } = job;
  const rest = { backend_id, input_format, name, tags, sdk_provider: "CONSOLE" };
  const members = Object.entries({
    ...rest,
    ...(shots === null ? {} : { shots }),
    ...(dry_run ? { dry_run } : {}),
    ...(cache ? { cache } : {}),
    ...(max_cost === null ? {} : { max_cost }),
    ...(session_id === null || isOutside ? {} : { session_id }),
  });
  return `{${members.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(",")},"input_params":${options},"input":${input}}`;
}

/** Whether a job was sent with options. */
export function hasOptions({ input_params: options }: Pick<QuantumJob, "input_params">): boolean {
  return Object.keys(options).length > 0;
}

/**
 * The options of a job as they were sent, byte by byte: where the job shows them, large numbers are rounded.
 *
 * @param sent what its execution was started with: behind the options, the platform has added the shots, and that it is a dry run
 */
export function readOptions(sent: string, { shots, dry_run }: Pick<QuantumJob, "shots" | "dry_run">): string {
  const params = sliceMember(sent, "params") ?? "{}";
  const added = [...(shots === null ? [] : [`"shots":${shots}`]), ...(dry_run ? ['"dry_run":true'] : [])];
  const end = `${added.join(",")}}`;
  if (added.length === 0 || !params.endsWith(end)) return params;
  return `${params.slice(0, -end.length).replace(/,$/u, "")}}`;
}
