import type { Session } from "../base/session.ts";
import type { RemoteContent } from "./download-file.ts";
import { persist, readRefusal } from "./transfer.ts";

/**
 * Size and sum of what a link below `/api` leads to; asked until it is answered.
 *
 * @throws RequestRefused, and what `fetch` throws; `downloadContent` judges size and sum
 */
export async function describeContent(
  { session, signal }: { readonly session: Pick<Session, "send">; readonly signal: AbortSignal },
  link: string,
  name: string,
): Promise<RemoteContent> {
  const ask = async () => {
    const head = await session.send(link, { method: "HEAD" });
    // A refusal of HEAD does not say why.
    const answer = head.ok ? head : await session.send(link, { method: "GET" });
    if (!answer.ok) throw await readRefusal(answer);
    await answer.body?.cancel();
    return answer.headers;
  };
  const headers = await persist(ask, () => 0, signal);
  const digest = /^sha-256=:(.*):$/u.exec(headers.get("repr-digest") ?? "")?.[1] ?? "";
  return {
    link,
    name,
    bytes: Number(headers.get("content-length") ?? "-1"),
    sha256: Buffer.from(digest, "base64").toString("hex"),
  };
}
