import type { FastifyReply, FastifyRequest } from "fastify";

/**
 * Lets a client read the answer that it gets before it has sent all of its body. Where the connection is to end with the answer, as many proxies
 * ask for and the framework does behind a body that is too large, Node closes it at once: the client fails at its next write, and what has
 * arrived may be lost with the connection (RFC 9112, section 9.6). Here it ends behind the body, for which `limitBodies` has the time.
 */
export function closeBehindBody({ raw: request }: FastifyRequest, reply: FastifyReply): void {
  const { raw: response } = reply;
  if (request.complete || (response.shouldKeepAlive && !reply.hasHeader("connection"))) return;
  reply.removeHeader("connection");
  response.shouldKeepAlive = true;
  response.once("finish", () => {
    const close = () => request.socket.destroySoon();
    if (request.complete) close();
    else request.once("end", close);
  });
}
