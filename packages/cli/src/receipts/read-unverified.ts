import { isRecord } from "@platform/engine/base/json";

/** What a receipt says, before anybody has verified it; empty where it cannot be read. @param text a JWS, or the answer that has it */
export function readUnverified(text: string): Readonly<Record<string, unknown>> {
  try {
    const trimmed = text.trim();
    const body: unknown = trimmed.startsWith("{") ? JSON.parse(trimmed) : { receipt: trimmed };
    const compact = isRecord(body) ? String(body["receipt"]) : "";
    const claims: unknown = JSON.parse(Buffer.from(compact.split(".")[1] ?? "", "base64url").toString());
    return isRecord(claims) ? claims : {};
  } catch {
    return {};
  }
}
