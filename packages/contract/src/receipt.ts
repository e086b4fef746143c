import { Type } from "typebox";
import type { Static } from "typebox";
import { ExecutionStatusSchema } from "./execution.ts";
import { JsonObject, StringEnum, Timestamp } from "./schemas.ts";
import { SANDBOX_LEVEL_NAMES } from "./sandbox.ts";

/** `typ` of a receipt's header: neither can a receipt be used as an access token (`at+jwt`), nor an access token as a receipt. */
export const RECEIPT_TYPE = "execution-receipt+jwt";

/** The one algorithm of receipts (ECDSA with P-256 and SHA-256); every check pins it. */
export const RECEIPT_ALGORITHM = "ES256";

/** Path of the JSON Web Key Set with the keys of all receipts, below their issuer: also those that sign nothing any more. */
export const RECEIPT_KEYS_PATH = "/.well-known/receipt-keys.json";

const Digest = (description: string) =>
  Type.String({ pattern: "^sha256:[0-9a-f]{64}$", description: `${description}: sha256:, and hex` });

const ByteCount = Type.Integer({ minimum: 0, description: "Size in bytes" });

/** What a receipt says. A member is missing where it is not known, or no longer stored. */
export const ReceiptClaimsSchema = Type.Object(
  {
    iss: Type.String({ description: "Who signed it: the origin of the gateway, or of the local server" }),
    iat: Type.Integer({ description: "When it was signed, in seconds since the epoch" }),
    executionId: Type.String({ description: "Identifier of the execution" }),
    serviceKey: Type.Optional(Type.String({ description: "Key of the service" })),
    service: Type.String({ description: "Name of the service" }),
    version: Type.String({ description: "MAJOR.MINOR.PATCH, or `local`" }),
    versionDigest: Digest("Content of the version: names and content of all files of its archive"),
    requirementsDigest: Type.Optional(Digest("The canonical text of the version's requirements")),
    python: Type.Optional(
      Type.String({ description: "Version of the Python that the version was built with" }),
    ),
    inputDigest: Type.Optional(Digest("The body of the start, as it was received")),
    inputBytes: Type.Optional(ByteCount),
    inputFiles: Type.Optional(
      JsonObject("What took the place of references in the body, as `_inputs` in the metadata of a result"),
    ),
    resultDigest: Type.Optional(
      Digest("The value of `result` in the answer of the result operation, byte by byte"),
    ),
    resultBytes: Type.Optional(ByteCount),
    resultFiles: Type.Optional(
      Type.Array(Type.Object({ name: Type.String(), digest: Digest("Its content"), bytes: ByteCount })),
    ),
    status: ExecutionStatusSchema,
    code: Type.Optional(Type.String({ description: "Why it did not succeed" })),
    createdAt: Timestamp("When the execution was stored durably"),
    attempts: Type.Optional(
      Type.Integer({
        minimum: 2,
        description: "How many attempts it had; times and resources are those of the last. Absent: one",
      }),
    ),
    startedAt: Type.Optional(Timestamp("When user code may have begun")),
    endedAt: Type.Optional(Timestamp("When the execution reached its final state")),
    cpuSeconds: Type.Optional(Type.Number({ description: "CPU time, as the platform measured it" })),
    peakMemoryBytes: Type.Optional(Type.Number({ description: "Most memory, as the platform measured it" })),
    sandboxLevel: Type.Optional(
      StringEnum(SANDBOX_LEVEL_NAMES, { description: "How well the worker isolated the execution" }),
    ),
  },
  { description: "What a receipt says" },
);

/** What a receipt says. */
export type ReceiptClaims = Static<typeof ReceiptClaimsSchema>;

/** Response of the receipt operation. */
export const ReceiptSchema = Type.Object(
  {
    receipt: Type.String({
      description: `JSON Web Signature in the compact form (RFC 7515), ${RECEIPT_ALGORITHM}, with the type ${RECEIPT_TYPE}. The keys are at ${RECEIPT_KEYS_PATH} of its issuer`,
    }),
  },
  { title: "Receipt", description: "A signed statement of what was executed" },
);
