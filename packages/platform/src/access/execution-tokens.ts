import { createHmac, timingSafeEqual } from "node:crypto";
import { deriveKey } from "../secrets/seal.ts";
import type { PlatformSecret } from "../secrets/key-ring.ts";
import { EXECUTION_TOKEN_PREFIX } from "./token-kinds.ts";

/** An attempt of an execution, which a token stands for. */
interface RunningAttempt {
  /** A UUID in lower case. */
  readonly executionId: string;
  readonly attempt: number;
}

/**
 * Tokens of executions. Each is the attempt that it stands for, and what proves that a worker of this platform has written it (HMAC-SHA-256):
 * nothing of it is stored, and every process of the platform, which all have its secret, makes and knows them. They are good for the quantum
 * API alone, as their key is for nothing else; whether the attempt still runs is for whoever reads one to find out.
 */
export interface ExecutionTokens {
  readonly sign: (attempt: RunningAttempt) => string;
  /** Null: it is none of this platform, or was changed. */
  readonly read: (token: string) => RunningAttempt | null;
}

const ID_BYTES = 16;
const ATTEMPT_BYTES = 4;
const PROOF_BYTES = 32;
const TOKEN_BYTES = ID_BYTES + ATTEMPT_BYTES + PROOF_BYTES;
const ENCODED = /^[A-Za-z0-9_-]{70}$/u;

/** While the platform's secret is changed, tokens of the other ones count as well. */
export function createExecutionTokens({ current, others }: PlatformSecret): ExecutionTokens {
  const [own, ...rest] = [current, ...others].map((secret) => deriveKey(secret, "execution-tokens"));
  if (own === undefined) throw new Error("Tokens need a secret.");
  const keys = [own, ...rest];
  return {
    sign: (attempt) => {
      const body = encodeAttempt(attempt);
      return EXECUTION_TOKEN_PREFIX + Buffer.concat([body, prove(own, body)]).toString("base64url");
    },
    read: (token) => {
      const encoded = token.slice(EXECUTION_TOKEN_PREFIX.length);
      if (!token.startsWith(EXECUTION_TOKEN_PREFIX) || !ENCODED.test(encoded)) return null;
      const bytes = Buffer.from(encoded, "base64url");
      // The last letter has bits that stand for nothing: one token has one form.
      if (bytes.length !== TOKEN_BYTES || bytes.toString("base64url") !== encoded) return null;
      const body = bytes.subarray(0, -PROOF_BYTES);
      const proof = bytes.subarray(-PROOF_BYTES);
      return keys.some((key) => timingSafeEqual(prove(key, body), proof)) ? decodeAttempt(body) : null;
    },
  };
}

function prove(key: Buffer, body: Buffer): Buffer {
  return createHmac("sha256", key).update(body).digest();
}

function encodeAttempt({ executionId, attempt }: RunningAttempt): Buffer {
  const body = Buffer.alloc(ID_BYTES + ATTEMPT_BYTES);
  body.write(executionId.replaceAll("-", ""), "hex");
  body.writeUInt32BE(attempt, ID_BYTES);
  return body;
}

function decodeAttempt(body: Buffer): RunningAttempt {
  const hex = body.toString("hex", 0, ID_BYTES);
  const executionId = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/u, "$1-$2-$3-$4-$5");
  return { executionId, attempt: body.readUInt32BE(ID_BYTES) };
}
