import { ReceiptClaimsSchema } from "@platform/contract/receipt";
import type { ReceiptClaims } from "@platform/contract/receipt";
import { Check } from "typebox/schema";

/** Whether this, which a signature covers, is what a receipt says; members that are not known are ignored. */
export function isReceiptClaims(value: unknown): value is ReceiptClaims {
  return Check(ReceiptClaimsSchema, value);
}
