import type { QuantumJob } from "@platform/contract/quantum-api/jobs";

/** The request that a job was started with, as JSON text. `input`: its input as the platform has it, which goes in unchanged. */
export function toSameRequest(job: QuantumJob, input: string): string {
  const { backend_id, input_format, input_params, shots, name, tags, dry_run } = job;
  const rest = { backend_id, input_format, input_params, name, tags, sdk_provider: "CONSOLE" };
  const members = Object.entries({
    ...rest,
    ...(shots === null ? {} : { shots }),
    ...(dry_run ? { dry_run } : {}),
  });
  return `{${members.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(",")},"input":${input}}`;
}
