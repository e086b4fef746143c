import { formatTimestamp } from "@platform/contract/execution";
import type { ReceiptClaims } from "@platform/contract/receipt";
import { isRecord } from "../base/json.ts";
import { describeInputs } from "../python/port/describe-inputs.ts";
import { MEASURED, READ } from "../python/port/run-output.ts";
import type { ExecutionRecord } from "../store/execution-store.ts";
import type { ExecutionDigests } from "../store/digests.ts";

/** What a receipt says of the version. */
export interface ReceiptVersion {
  /** Missing: the local server has none. */
  readonly serviceKey?: string;
  readonly service: string;
  readonly version: string;
  /** SHA-256 over names and contents of the files, in hex. */
  readonly contentHash: string;
  /** Missing: it is not known of versions of a former release. */
  readonly built?: { readonly requirementsHash: string; readonly python: string };
}

/** A receipt before it is signed: the issuer adds itself and the time. */
export type UnsignedReceipt = Omit<ReceiptClaims, "iss" | "iat">;

/** Who signs receipts: a platform, or a local server. */
export interface ReceiptIssuer {
  readonly describeVersion: (versionId: string) => Promise<ReceiptVersion>;
  /** Returns a JSON Web Signature in the compact form. */
  readonly sign: (receipt: UnsignedReceipt) => Promise<string>;
}

/** What was executed, as far as it is still stored: all bytes by their digests. */
export function describeReceipt(
  record: ExecutionRecord,
  digests: ExecutionDigests,
  version: ReceiptVersion,
): UnsignedReceipt {
  const { failure, sandboxLevel, startedAt, endedAt, attempts = [] } = record;
  // Of one that was cancelled before its last attempt began, that has not been.
  const count = attempts.length + (startedAt === null ? 0 : 1);
  const metadata = readMetadata(digests.metadata) ?? failure?.metadata ?? {};
  return {
    executionId: record.id,
    ...describeVersion(version),
    ...describeInput(digests, metadata),
    ...describeResult(digests),
    status: record.status,
    ...(failure === null ? {} : { code: failure.code }),
    createdAt: formatTimestamp(record.createdAt),
    ...(count > 1 ? { attempts: count } : {}),
    ...(startedAt === null ? {} : { startedAt: formatTimestamp(startedAt) }),
    ...(endedAt === null ? {} : { endedAt: formatTimestamp(endedAt) }),
    ...describeUsage(metadata),
    ...(sandboxLevel === null ? {} : { sandboxLevel }),
  };
}

function describeVersion({ serviceKey, service, version, contentHash, built }: ReceiptVersion) {
  return {
    ...(serviceKey === undefined ? {} : { serviceKey }),
    service,
    version,
    versionDigest: toDigest(contentHash),
    ...(built === undefined
      ? {}
      : { requirementsDigest: toDigest(built.requirementsHash), python: built.python }),
  };
}

function describeInput({ input }: ExecutionDigests, { [READ]: read }: Readonly<Record<string, unknown>>) {
  const named = input === null ? read : describeInputs(input.references);
  return {
    ...(input === null ? {} : { inputDigest: toDigest(input.hash), inputBytes: input.bytes }),
    ...(isRecord(named) && Object.keys(named).length > 0 ? { inputFiles: named } : {}),
  };
}

function describeResult({ result, files }: ExecutionDigests) {
  return {
    ...(result === null ? {} : { resultDigest: toDigest(result.hash), resultBytes: result.bytes }),
    ...(files.length === 0
      ? {}
      : { resultFiles: files.map(({ name, hash, bytes }) => ({ name, digest: toDigest(hash), bytes })) }),
  };
}

/** The platform writes these last, and user code cannot write them: see `MEASURED`. */
function describeUsage({ [MEASURED]: usage }: Readonly<Record<string, unknown>>) {
  if (!isRecord(usage)) return {};
  const { cpuSeconds, peakMemoryBytes } = usage;
  return {
    ...(typeof cpuSeconds === "number" ? { cpuSeconds } : {}),
    ...(typeof peakMemoryBytes === "number" ? { peakMemoryBytes } : {}),
  };
}

function readMetadata(text: Uint8Array | null): Readonly<Record<string, unknown>> | null {
  if (text === null) return null;
  const metadata: unknown = JSON.parse(Buffer.from(text).toString());
  return isRecord(metadata) ? metadata : null;
}

function toDigest(hash: string): string {
  return `sha256:${hash}`;
}
