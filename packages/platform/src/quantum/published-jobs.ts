import { isRecord } from "@platform/engine/base/json";

/*
 * What clients that were published for other platforms of this kind expect of jobs, beyond what the backend answers in their dialect
 * (`platform_quantum.backend.dialects`).
 */

/** Options by which the order of bits in a result is known: they come first, so that they are kept. */
const DECIDING: ReadonlySet<string> = new Set(["mode", "meas_map"]);

const IONQ = "IONQ_CIRCUIT_V1";

/** A job as it was sent, as far as it matters here. */
interface SentJob {
  readonly input_format: string;
  readonly input: unknown;
  readonly input_params?: Readonly<Record<string, unknown>>;
}

/** The options of a job before they are cut for lists. Clients of IonQ's circuits read the states of a result by the number of qubits, which they look for there as text. */
export function describeParams({
  input_format,
  input,
  input_params = {},
}: SentJob): Readonly<Record<string, unknown>> {
  const deciding = Object.entries(input_params).filter(([name]) => DECIDING.has(name));
  const params = { ...Object.fromEntries(deciding), ...input_params };
  if (input_format !== IONQ || !isRecord(input) || typeof input["qubits"] !== "number") return params;
  return { qubits: String(input["qubits"]), ...params };
}

/** How the runner begins a result that is a list (`outcome.py`); an object of a program has no space there. */
export const LIST_START = Buffer.from('{"value": [');
/** What stands before the list, and behind it. */
export const AROUND_LIST = { before: LIST_START.length - 1, behind: 1 };

/** A list that a backend has returned: of an execution it is the member `value` of an object, of a job it is the result. Anything else is as it was. */
export function unwrapList(result: Uint8Array): Uint8Array {
  // The result may be the end of what it is a part of.
  if (!LIST_START.equals(result.subarray(0, LIST_START.length))) return result;
  return result.subarray(AROUND_LIST.before, result.length - AROUND_LIST.behind);
}
