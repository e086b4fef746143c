import { JobRequestSchema } from "@platform/contract/quantum-api/jobs";
import type { JobRequest } from "@platform/contract/quantum-api/jobs";
import type { BackendDescription } from "@platform/contract/quantum-api/description";
import { MAX_INPUT_BYTES } from "@platform/contract/limits";
import { Problem } from "@platform/contract/problems";
import type { FieldError } from "@platform/contract/problems";
import { isRecord } from "@platform/engine/base/json";
import { scanJson } from "@platform/engine/executions/json-scan";
import { findExcess } from "@platform/engine/input-schema/bounds";
import { parseBody } from "@platform/engine/executions/start-body";
import { createSchemaCheck } from "@platform/engine/project/schema-check";

const check = createSchemaCheck<JobRequest>(JobRequestSchema);

const EXAMPLE = '{"backend_id": "sim.statevector", "input_format": "OPEN_QASM_V3", "input": "..."}';

/** A job as it was sent, and the parts of its body that are passed on byte by byte. */
export interface ReadRequest extends JobRequest {
  readonly inputText: Uint8Array;
  /** Null: there are none. */
  readonly paramsText: Uint8Array | null;
}

/**
 * Reads the body of a job. Nothing is read of its input.
 *
 * @throws Problem INVALID_JSON, INVALID_INPUT
 */
export function readJobRequest(bytes: Uint8Array): ReadRequest {
  const body = parseBody(bytes, EXAMPLE);
  const checked = check(body);
  if ("faults" in checked) throw refuse(checked.faults);
  const texts = new Map<string, Uint8Array>();
  for (const { key, start, length } of scanJson(bytes).members) {
    if (texts.has(key)) throw refuse([{ path: `/${key}`, message: `The body has the key "${key}" twice.` }]);
    texts.set(key, bytes.subarray(start, start + length));
  }
  const inputText = texts.get("input");
  if (inputText === undefined) throw refuse([{ path: "/input", message: "input is missing." }]);
  requireStorable(checked.value, inputText);
  return { ...checked.value, inputText, paramsText: texts.get("input_params") ?? null };
}

/** `format` and the braces of `data` beside the input. */
const MOST_INPUT_BYTES = MAX_INPUT_BYTES - 256;

/** What is kept of a job beside its input is shown in lists. @throws Problem INPUT_TOO_LARGE, INVALID_INPUT */
function requireStorable(
  { name, tags, input_format, input_params, sdk_provider }: JobRequest,
  input: Uint8Array,
): void {
  if (input.length > MOST_INPUT_BYTES)
    throw new Problem(
      "INPUT_TOO_LARGE",
      `input has ${input.length} bytes; at most ${MOST_INPUT_BYTES} are accepted. Send fewer circuits in one job, or QPY that is compressed.`,
    );
  for (const [key, value] of Object.entries({ name, tags, input_format, input_params, sdk_provider })) {
    const excess = value === undefined ? null : findExcess(value);
    if (excess !== null) throw refuse([{ path: `/${key}`, message: `${key} ${excess}.` }]);
  }
}

/** What can be said of a job without looking into its circuits. @throws Problem INVALID_INPUT */
export function requireSupported(request: JobRequest, description: BackendDescription): void {
  const { configuration, dry_run: isDryRunKnown = false } = description;
  const { backend_id, input_format, shots } = request;
  const { supported_input_formats: formats, shots_range } = configuration;
  const faults: FieldError[] = [];
  if (!(formats as readonly string[]).includes(input_format))
    faults.push({
      path: "/input_format",
      message: `${backend_id} does not read ${input_format}; it reads ${formats.join(", ")}.`,
    });
  if (shots !== undefined && (shots < shots_range.min || shots > shots_range.max))
    faults.push({
      path: "/shots",
      message: `shots must be from ${shots_range.min} to ${shots_range.max} on ${backend_id}.`,
    });
  // It would run the job, for nothing.
  if (request.dry_run === true && !isDryRunKnown)
    faults.push({
      path: "/dry_run",
      message: `${backend_id} does not say that it answers dry runs (\`dry_run\` of its description): nothing was started.`,
    });
  faults.push(...findOptionFaults(request));
  faults.push(...findInputFaults(request, configuration.max_pubs_per_job));
  if (faults.length > 0) throw refuse(faults);
}

/** What is said by the body, and not by the options. */
function findOptionFaults({ input_params: options = {}, shots }: JobRequest): readonly FieldError[] {
  const faults: FieldError[] = [];
  // Of two that differ the backend would take one, and the job be priced by the other.
  if (Object.hasOwn(options, "shots") && options["shots"] !== shots)
    faults.push({
      path: "/input_params/shots",
      message: "shots is a member of the body, not an option; where it is both, it is the same number.",
    });
  if (Object.hasOwn(options, "dry_run"))
    faults.push({
      path: "/input_params/dry_run",
      message: "dry_run is a member of the body, not an option.",
    });
  return faults;
}

/** `data` has members of these names besides those of the input. */
const OWN_NAMES = ["format", "input"];

function findInputFaults({ backend_id, input }: JobRequest, mostCircuits: number): readonly FieldError[] {
  if (!isRecord(input)) return [];
  const faults: FieldError[] = OWN_NAMES.filter((name) => Object.hasOwn(input, name)).map((name) => ({
    path: `/input/${name}`,
    message: `input cannot have a member ${name}.`,
  }));
  const circuits = Array.isArray(input["pubs"]) ? input["pubs"].length : 1;
  if (circuits === 0) faults.push({ path: "/input/pubs", message: "pubs must have one circuit at least." });
  if (circuits > mostCircuits)
    faults.push({
      path: "/input/pubs",
      message: `pubs has ${circuits} circuits; a job of ${backend_id} has ${mostCircuits} at most.`,
    });
  return faults;
}

/**
 * The body that the execution is started with: `data` has the format and the members of the input, or `input` where that is no object; `params`
 * the options, the shots, and whether it is a dry run. Both are spliced from the text that was sent, so that no number loses a digit.
 */
export function toStartBody({
  input_format,
  shots,
  dry_run,
  inputText,
  paramsText,
}: ReadRequest): Uint8Array {
  return Buffer.concat([
    Buffer.from('{"data":'),
    Buffer.from(openData(input_format)),
    isObject(inputText) ? continueObject(inputText) : Buffer.concat([INPUT, inputText, CLOSE]),
    Buffer.from(',"params":'),
    addMembers(paramsText ?? Buffer.from("{}"), { shots, dry_run: dry_run === true ? true : undefined }),
    CLOSE,
  ]);
}

/** What was sent as the input, of the `data` that `toStartBody` has made. */
export function readInput(data: Uint8Array, format: string): Uint8Array {
  const rest = data.subarray(openData(format).length);
  const isValue = Buffer.from(rest.subarray(0, INPUT.length)).equals(INPUT);
  if (isValue) return rest.subarray(INPUT.length, -CLOSE.length);
  const members = rest[0] === COMMA ? rest.subarray(1) : rest;
  return Buffer.concat([Buffer.from("{"), members]);
}

const INPUT = Buffer.from(',"input":');
const CLOSE = Buffer.from("}");
const COMMA = 0x2c;
const BRACE = 0x7b;

function openData(format: string): string {
  return `{"format":${JSON.stringify(format)}`;
}

function isObject(text: Uint8Array): boolean {
  return text[0] === BRACE;
}

/** The text of an object behind members that stand before its own. */
function continueObject(text: Uint8Array): Uint8Array {
  const members = text.subarray(1);
  return hasMembers(text) ? Buffer.concat([Buffer.from(","), members]) : members;
}

function hasMembers(object: Uint8Array): boolean {
  return Buffer.from(object.subarray(1, -1)).toString("latin1").trim() !== "";
}

/** Of two members with one name, the last counts. */
function addMembers(
  params: Uint8Array,
  added: Readonly<Record<string, number | boolean | undefined>>,
): Uint8Array {
  const texts = Object.entries(added).flatMap(([name, value]) =>
    value === undefined ? [] : [`"${name}":${String(value)}`],
  );
  if (texts.length === 0) return params;
  const more = `${hasMembers(params) ? "," : ""}${texts.join(",")}}`;
  return Buffer.concat([params.subarray(0, -1), Buffer.from(more)]);
}

function refuse(errors: readonly FieldError[]): Problem {
  const detail = errors.map(({ message }) => message).join(" ");
  return new Problem("INVALID_INPUT", detail, { errors });
}
