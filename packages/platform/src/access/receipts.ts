import { SignJWT } from "jose";
import { Problem } from "@platform/contract/problems";
import { RECEIPT_TYPE } from "@platform/contract/receipt";
import type { ReceiptIssuer, ReceiptVersion } from "@platform/engine/executions/receipt";
import { SIGNING_ALGORITHM } from "./signing-keys.ts";
import type { SigningKeys } from "./signing-keys.ts";

/** What receipts are made with. */
export interface ReceiptIssuerOptions {
  readonly keys: Pick<SigningKeys, "current">;
  readonly versions: { readonly findForReceipt: (id: string) => Promise<ReceiptVersion | null> };
  /** Origin of the gateway, where the keys are published. */
  readonly issuer: string;
  /** Milliseconds since the epoch; default: `Date.now`. */
  readonly now?: () => number;
}

/** Signs receipts with the keys of access tokens; the type keeps the two apart. They have no expiry: what they say stays true. */
export function createReceiptIssuer(options: ReceiptIssuerOptions): ReceiptIssuer {
  const now = options.now ?? Date.now;
  return {
    describeVersion: async (versionId) => {
      const version = await options.versions.findForReceipt(versionId);
      if (version === null) throw new Problem("RESULT_EXPIRED", "The version of the execution is gone.");
      return version;
    },
    sign: async (receipt) => {
      const { kid, privateKey } = await options.keys.current();
      return await new SignJWT(receipt)
        .setProtectedHeader({ alg: SIGNING_ALGORITHM, typ: RECEIPT_TYPE, kid })
        .setIssuer(options.issuer)
        .setIssuedAt(Math.floor(now() / 1_000))
        .sign(privateKey);
    },
  };
}
