import { isUtf8 } from "node:buffer";
import { FileReferenceSchema, MAX_INPUT_DEPTH, PersistTargetSchema } from "@platform/contract/execution";
import type { FileReference, PersistTarget } from "@platform/contract/execution";
import { explainFileName } from "@platform/contract/file-name";
import { MAX_INPUT_BYTES } from "@platform/contract/limits";
import { Problem } from "@platform/contract/problems";
import type { FieldError } from "@platform/contract/problems";
import { MAX_WEBHOOK_URL, parseWebhookUrl } from "@platform/contract/webhook-url";
// Not that of typebox/value, which is the same and loads 90 modules more.
import { Check } from "typebox/schema";
import { isRecord } from "../base/json.ts";
import { scanJson } from "./json-scan.ts";
import { findTimeErrors, parseStartAt, parseStartWithin } from "./start-times.ts";
import { parsePointer } from "../json-check/pointer.ts";
import type { InputName } from "../python/port/runtime.ts";

/** `data` and `params` of the largest size, two references, where the result goes, and white space between them. */
export const MAX_BODY_BYTES = 2 * MAX_INPUT_BYTES + 64 * 1024;

/** A start body that was checked, except against the service's schema. `undefined`: the key is missing. */
export interface AcceptedBody {
  /** The body as received. */
  readonly bytes: Uint8Array;
  /** The files that take the place of `data` and `params`. */
  readonly references: Readonly<Partial<Record<InputName, FileReference>>>;
  /** Where the result is stored besides; missing: nowhere. */
  readonly persistTo?: PersistTarget;
  /** When it may begin, in milliseconds since the epoch; missing: at once. */
  readonly startAt?: number;
  /** Who is told what becomes of it, as it is called; missing: nobody besides. */
  readonly webhookUrl?: string;
  /** In how many seconds from then it must have begun; missing: as the policy of the service says. */
  readonly startWithin?: number;
  /** Parsed once, for the check against the service's schema; what is stored is `bytes`. */
  readonly data: Readonly<Record<string, unknown>> | undefined;
  readonly params: Readonly<Record<string, unknown>> | undefined;
}

/** Maximum number of errors in an answer: a body can have 200,000. */
const MAX_UNKNOWN_KEYS = 20;
const KEYS = [
  "data",
  "dataRef",
  "params",
  "paramsRef",
  "persistTo",
  "startAt",
  "webhookUrl",
  "startWithin",
] as const;

/**
 * Checks a start body: JSON text of an object with `data` xor `dataRef` and `params` xor `paramsRef`.
 * @throws Problem INVALID_JSON, INVALID_INPUT, INPUT_TOO_LARGE; DATA_REFERENCE_INVALID for a name that no file can have
 */
export function acceptStartBody(bytes: Uint8Array): AcceptedBody {
  const body = parseBody(bytes, '{"data": {}, "params": {}}');
  checkSizes(bytes);
  const errors = findFieldErrors(body);
  if (errors.length > 0)
    throw new Problem("INVALID_INPUT", errors.map((error) => error.message).join(" "), { errors });
  const persistTo = body["persistTo"] as PersistTarget | undefined;
  requireName(persistTo?.name);
  const startAt = parseStartAt(body["startAt"]);
  const webhookUrl = readWebhookUrl(body);
  const startWithin = parseStartWithin(body["startWithin"]);
  return {
    bytes,
    ...(persistTo === undefined ? {} : { persistTo }),
    ...(startAt === null ? {} : { startAt }),
    ...(webhookUrl === null ? {} : { webhookUrl }),
    ...(startWithin === null ? {} : { startWithin }),
    references: {
      ...(body["dataRef"] === undefined ? {} : { data: body["dataRef"] as FileReference }),
      ...(body["paramsRef"] === undefined ? {} : { params: body["paramsRef"] as FileReference }),
    },
    data: body["data"] as Record<string, unknown> | undefined,
    params: body["params"] as Record<string, unknown> | undefined,
  };
}

/** The object that a body is. `example`: of one. @throws Problem INVALID_JSON, INVALID_INPUT */
export function parseBody(bytes: Uint8Array, example: string): Readonly<Record<string, unknown>> {
  if (bytes.length === 0)
    throw new Problem("INVALID_JSON", `The body is empty; send a JSON object such as ${example}.`);
  if (!isUtf8(bytes)) throw new Problem("INVALID_JSON", "The body is not valid UTF-8.");
  const body = parseJson(bytes);
  if (!isRecord(body))
    throw new Problem("INVALID_INPUT", `The body must be a JSON object, not ${describeKind(body)}.`);
  return body;
}

/** Not INVALID_INPUT: the schema cannot say what a name is. */
function requireName(name: string | undefined): void {
  const message = name === undefined ? null : explainFileName(name);
  if (message !== null)
    throw new Problem("DATA_REFERENCE_INVALID", message, { errors: [{ path: "/persistTo/name", message }] });
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8"));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : "it cannot be parsed";
    throw new Problem("INVALID_JSON", `The body is not valid JSON: ${reason.slice(0, 200)}.`, { cause });
  }
}

function checkSizes(bytes: Uint8Array): void {
  const { depth, members } = scanJson(bytes);
  if (depth > MAX_INPUT_DEPTH)
    throw new Problem(
      "INVALID_INPUT",
      `The body is nested ${depth} levels deep; at most ${MAX_INPUT_DEPTH} are accepted.`,
    );
  const seen = new Set<string>();
  for (const { key, length } of members) {
    if (seen.has(key)) throw refuseDuplicate(key);
    seen.add(key);
    if (length > MAX_INPUT_BYTES && (key === "data" || key === "params")) {
      throw new Problem(
        "INPUT_TOO_LARGE",
        `"${key}" has ${length} bytes; by value at most ${MAX_INPUT_BYTES} are accepted. Pass larger input by reference with ${key}Ref.`,
      );
    }
  }
}

function refuseDuplicate(key: string): Problem {
  const message = `Duplicate key "${key.slice(0, 100)}".`;
  return new Problem("INVALID_INPUT", message, { errors: [{ path: `/${escapePointer(key)}`, message }] });
}

function findFieldErrors(body: Readonly<Record<string, unknown>>): readonly FieldError[] {
  const unknown = Object.keys(body).filter((key) => !(KEYS as readonly string[]).includes(key));
  // The first says which there are: the answer would be long if all did.
  const errors: FieldError[] = unknown.slice(0, MAX_UNKNOWN_KEYS).map((key, index) => ({
    path: `/${escapePointer(key)}`,
    message: `The key "${key.slice(0, 100)}" is not known${index === 0 ? `; only ${KEYS.join(", ")} are` : ""}.`,
  }));
  for (const key of ["data", "params"] as const) {
    const value = body[key];
    const reference = body[`${key}Ref`];
    if (value !== undefined && reference !== undefined)
      errors.push({ path: `/${key}Ref`, message: `Give either "${key}" or "${key}Ref", not both.` });
    if (value !== undefined && !isRecord(value))
      errors.push({
        path: `/${key}`,
        message: `"${key}" must be a JSON object, not ${describeKind(value)}.`,
      });
    if (reference !== undefined) errors.push(...findReferenceErrors(key, reference));
  }
  if (body["persistTo"] !== undefined && !Check(PersistTargetSchema, body["persistTo"]))
    errors.push({
      path: "/persistTo",
      message: '"persistTo" must be an object with dataPoolId, a UUID, and at most a name besides.',
    });
  errors.push(...findTimeErrors(body));
  if (body["webhookUrl"] !== undefined && readWebhookUrl(body) === null)
    errors.push({
      path: "/webhookUrl",
      message: `"webhookUrl" must be a URL of https or http with at most ${MAX_WEBHOOK_URL} characters, without user, password or fragment.`,
    });
  return errors;
}

/** Null: it is missing, or cannot be called. */
function readWebhookUrl({ webhookUrl }: Readonly<Record<string, unknown>>): string | null {
  return typeof webhookUrl === "string" ? (parseWebhookUrl(webhookUrl)?.href ?? null) : null;
}

function findReferenceErrors(key: InputName, reference: unknown): readonly FieldError[] {
  const pointer = isRecord(reference) ? reference["pointer"] : undefined;
  const parsed = parsePointer(typeof pointer === "string" ? pointer : "");
  if ("fault" in parsed)
    return [{ path: `/${key}Ref/pointer`, message: `The pointer of "${key}Ref" ${parsed.fault}.` }];
  if (Check(FileReferenceSchema, reference)) return [];
  const message = `"${key}Ref" must be an object with dataPoolId, dataSourceDescriptorId and fileId, each a UUID, and at most a pointer besides.`;
  return [{ path: `/${key}Ref`, message }];
}

function describeKind(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}

function escapePointer(key: string): string {
  return key.slice(0, 100).replaceAll("~", "~0").replaceAll("/", "~1");
}
