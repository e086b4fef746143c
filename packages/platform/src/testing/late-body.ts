import { once } from "node:events";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { readMonotonic } from "@platform/engine/base/monotonic";
import { waitUntil } from "@platform/engine/testing/wait-until";

/** A request whose body is sent long after its head. */
interface LateRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: string;
}

/** Longer than an admission lasts (pipeline.ts). */
const LATE_MS = 600;

/** Sends the head, has `meanwhile` done when it has arrived, and then sends the body; returns status and code of the answer. */
export async function sendLate(
  app: FastifyInstance,
  { method, path, headers, payload }: LateRequest,
  meanwhile: () => Promise<unknown>,
): Promise<{ readonly status: number | undefined; readonly code: unknown }> {
  if (!app.server.listening) await app.listen({ port: 0, host: "127.0.0.1" });
  const { port } = app.server.address() as AddressInfo;
  const length = { "content-length": String(Buffer.byteLength(payload)) };
  const sent = request({
    port,
    host: "127.0.0.1",
    method,
    path,
    agent: false,
    headers: { ...headers, ...length },
  });
  const answered: Promise<IncomingMessage[]> = once(sent, "response");
  const arrived = once(app.server, "request");
  sent.flushHeaders();
  await arrived;
  const began = readMonotonic();
  await meanwhile();
  await waitUntil(async () => readMonotonic() - began > LATE_MS);
  sent.end(payload);
  const [answer] = await answered;
  const body = await answer?.toArray();
  const parsed: { readonly code?: unknown } = JSON.parse(Buffer.concat(body ?? []).toString());
  return { status: answer?.statusCode, code: parsed.code };
}
