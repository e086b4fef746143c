import type { FastifyReply } from "fastify";

/** Aborts once the connection of the caller is closed, who may be gone already: then there is no event any more. */
export function watchCaller({ raw }: Pick<FastifyReply, "raw">): AbortSignal {
  const gone = new AbortController();
  if (raw.destroyed) gone.abort();
  else raw.once("close", () => gone.abort());
  return gone.signal;
}
