import type { ItemOf } from "../api/client.ts";
import { parseTimestamp } from "./times.ts";

type AccessKey = Pick<ItemOf<"listAccessKeys">, "keyId" | "revokedAt" | "expiresAt" | "replacedBy">;

/** Whether tokens are given for it: it is not revoked, and has not expired. @param now in milliseconds since the epoch */
export function isUsable({ revokedAt, expiresAt }: Omit<AccessKey, "keyId">, now: number): boolean {
  return revokedAt === null && (expiresAt === null || parseTimestamp(expiresAt) > now);
}

/** The key to call with: best one that no other has replaced, since that one ends soon. */
export function findUsable<Key extends AccessKey>(keys: readonly Key[], now: number): Key | undefined {
  const usable = keys.filter((key) => isUsable(key, now));
  return usable.find(({ replacedBy }) => replacedBy === null) ?? usable[0];
}
