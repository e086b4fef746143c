import { createPublicKey, verify } from "node:crypto";
import type { JsonWebKey, KeyObject } from "node:crypto";
import { RECEIPT_ALGORITHM, RECEIPT_TYPE } from "@platform/contract/receipt";
import type { ReceiptClaims } from "@platform/contract/receipt";
import { isRecord } from "@platform/engine/base/json";
import { isReceiptClaims } from "@platform/engine/executions/receipt-claims";
import { UserError } from "../base/errors.ts";

/** A receipt whose signature is right. */
export interface VerifiedReceipt {
  readonly claims: ReceiptClaims;
  /** The key that signed it. */
  readonly kid: string;
}

/** A JSON Web Key Set whose members were not looked at. */
export interface KeySet {
  readonly keys: readonly unknown[];
}

/** Compact JWS of an execution with a hundred files have 30 kB. */
const MAX_RECEIPT_LENGTH = 1_048_576;
/** With `dsaEncoding: ieee-p1363`, as JWS has them (RFC 7518 3.4). */
const SIGNATURE_BYTES = 64;
const PARTS = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/;

/**
 * Takes nothing from the receipt but the name of its key: algorithm, type and curve are fixed.
 *
 * @param text a compact JWS, or the answer of the receipt operation, which has it
 * @throws UserError RECEIPT_INVALID
 */
export function verifyReceipt(text: string, { keys }: KeySet): VerifiedReceipt {
  const [, header = "", payload = "", signature = ""] = PARTS.exec(readCompact(text)) ?? [];
  if (signature === "") throw refuse("It is no JSON Web Signature in the compact form.");
  const { typ, alg, kid } = readPart(header, "header");
  if (typ !== RECEIPT_TYPE)
    throw refuse(`Its type is ${describe(typ)}; that of a receipt is "${RECEIPT_TYPE}".`);
  if (alg !== RECEIPT_ALGORITHM)
    throw refuse(`Its algorithm is ${describe(alg)}; that of a receipt is "${RECEIPT_ALGORITHM}".`);
  if (typeof kid !== "string") throw refuse("It names no key.");
  const key = findKey(keys, kid);
  const bytes = Buffer.from(signature, "base64url");
  const isRight =
    bytes.length === SIGNATURE_BYTES &&
    verify("sha256", Buffer.from(`${header}.${payload}`), { key, dsaEncoding: "ieee-p1363" }, bytes);
  if (!isRight)
    throw refuse(
      `The signature is not that of the key ${describe(kid)}: the receipt was changed, or is forged.`,
    );
  const claims = readPart(payload, "content");
  if (!isReceiptClaims(claims)) throw refuse("Its content is not that of a receipt.");
  return { claims, kid };
}

function readCompact(text: string): string {
  if (text.length > MAX_RECEIPT_LENGTH) throw refuse("It is larger than any receipt.");
  const trimmed = text.trim();
  if (!trimmed.startsWith("{")) return trimmed;
  const body = parseJson(trimmed);
  const receipt = isRecord(body) ? body["receipt"] : undefined;
  if (typeof receipt !== "string") throw refuse('It is JSON without the member "receipt".');
  return receipt;
}

function readPart(part: string, what: string): Readonly<Record<string, unknown>> {
  const value = parseJson(Buffer.from(part, "base64url").toString());
  if (!isRecord(value)) throw refuse(`Its ${what} is no JSON object.`);
  return value;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function findKey(keys: readonly unknown[], kid: string): KeyObject {
  const jwk = keys.find((key) => isRecord(key) && key["kid"] === kid);
  if (jwk === undefined)
    throw refuse(
      `The keys have none with the id ${describe(kid)}.`,
      "A receipt whose key may have leaked counts no more: ask for the receipt again while the execution is kept.",
    );
  const key = importKey(jwk);
  if (key?.asymmetricKeyDetails?.namedCurve !== "prime256v1")
    throw refuse(`The key ${describe(kid)} is not on the curve P-256.`);
  return key;
}

function importKey(jwk: unknown): KeyObject | null {
  try {
    return createPublicKey({ key: jwk as JsonWebKey, format: "jwk" });
  } catch {
    return null;
  }
}

function describe(value: unknown): string {
  return value === undefined ? "missing" : JSON.stringify(value).slice(0, 100);
}

function refuse(message: string, hint?: string): UserError {
  const options = hint === undefined ? {} : { hint };
  return new UserError("RECEIPT_INVALID", `The receipt is not valid. ${message}`, options);
}
