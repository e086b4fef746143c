import { METHODS } from "node:http";
import type { FastifyInstance } from "fastify";
import type { Operation } from "@platform/contract/operation";
import { Problem } from "@platform/contract/problems";

/** Adds every method that Node can parse to the framework, which knows eight, so that others can be answered with 405. */
export function supportAllMethods(app: FastifyInstance): void {
  const known = new Set<string>(app.supportedMethods);
  // CONNECT never becomes a request: Node closes its connection.
  for (const method of METHODS)
    if (!known.has(method) && method !== "CONNECT") app.addHttpMethod(method, { hasBody: true });
}

/** Answers a known path with another method with 405 and `Allow`, instead of 404. */
export function refuseOtherMethods(
  app: FastifyInstance,
  operations: readonly Pick<Operation, "method" | "path">[],
): void {
  const allowed = new Map<string, Set<string>>();
  for (const { path, method } of operations) allowed.set(path, (allowed.get(path) ?? new Set()).add(method));
  for (const [path, methods] of allowed) {
    const allow = [...methods].join(", ");
    // A GET route answers HEAD as well.
    const others = app.supportedMethods.filter(
      (method) => !methods.has(method) && !(method === "HEAD" && methods.has("GET")),
    );
    app.route({
      method: others,
      url: toRoutePath(path),
      onRequest: async (request) => {
        throw new Problem(
          "METHOD_NOT_ALLOWED",
          `${request.method} is not allowed here; use ${[...methods].join(" or ")}.`,
          {
            headers: { allow },
          },
        );
      },
      handler: async () => undefined,
    });
  }
}

/** The framework's form of a path: `/{id}/log` becomes `/:id/log`. */
export function toRoutePath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ":$1");
}
