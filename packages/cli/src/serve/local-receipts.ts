import { createHash, generateKeyPairSync, sign } from "node:crypto";
import type { KeyObject } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { Problem } from "@platform/contract/problems";
import { RECEIPT_ALGORITHM, RECEIPT_KEYS_PATH, RECEIPT_TYPE } from "@platform/contract/receipt";
import type { ReceiptIssuer } from "@platform/engine/executions/receipt";
import { refuseOtherMethods } from "@platform/engine/http/methods";
import { SECOND } from "@platform/engine/base/time";
import type { LocalVersions } from "./local-versions.ts";

/** Signs as a platform does, with a key that lives as long as the server: such receipts prove nothing to others. */
export interface LocalReceipts extends ReceiptIssuer {
  /** The key set, at the path at which a platform has it. */
  readonly registerKeys: (app: FastifyInstance) => void;
}

/** @param issuer the server's URL, once it listens */
export function createLocalReceipts(
  versions: Pick<LocalVersions, "describeForReceipt">,
  issuer: () => string,
): LocalReceipts {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { kid, ...jwk } = describeKey(publicKey);
  const header = encode({ alg: RECEIPT_ALGORITHM, typ: RECEIPT_TYPE, kid });
  return {
    describeVersion: async (versionId) => {
      const version = versions.describeForReceipt(versionId);
      if (version === undefined) throw new Problem("RESULT_EXPIRED");
      return version;
    },
    sign: async (receipt) => {
      const iat = Math.floor(Date.now() / SECOND);
      const signed = `${header}.${encode({ ...receipt, iss: issuer(), iat })}`;
      const signature = sign("sha256", Buffer.from(signed), {
        key: privateKey,
        dsaEncoding: "ieee-p1363",
      });
      return `${signed}.${signature.toString("base64url")}`;
    },
    registerKeys: (app) => {
      app.get(RECEIPT_KEYS_PATH, async () => ({
        keys: [{ ...jwk, kid, alg: RECEIPT_ALGORITHM, use: "sig" }],
      }));
      refuseOtherMethods(app, [{ method: "GET", path: RECEIPT_KEYS_PATH }]);
    },
  };
}

/** The public members; `kid`: the thumbprint (RFC 7638). */
function describeKey(key: KeyObject) {
  const { crv, kty, x, y } = key.export({ format: "jwk" });
  const kid = createHash("sha256").update(JSON.stringify({ crv, kty, x, y })).digest("base64url");
  return { kty, crv, x, y, kid };
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
