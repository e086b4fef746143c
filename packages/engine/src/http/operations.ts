import type { FastifyInstance, FastifyRequest, RouteShorthandOptions } from "fastify";
import type { TObject } from "typebox";
import type { Operation, OperationTable } from "@platform/contract/operation";
import { Problem } from "@platform/contract/problems";
import { refuseOtherMethods, toRoutePath } from "./methods.ts";
import type { OperationHandlers, OperationReply, OperationRequest } from "./types.ts";

/** As many as any bound of an operation has. */
const DIGITS = /^[0-9]{1,9}$/;

export interface OperationsOptions<T extends OperationTable, C> {
  readonly prefix: string;
  /** Who calls; throws Problem UNAUTHENTICATED or FORBIDDEN. Runs before anything of the request is looked at. */
  readonly authorize: (request: FastifyRequest, operationId: keyof T & string) => Promise<C>;
  readonly handlers: OperationHandlers<T, C>;
}

/** Turns every row of an operation table into a route: authorised, validated, and answering only what its schema lists. */
export async function registerOperations<T extends OperationTable, C>(
  app: FastifyInstance,
  table: T,
  options: OperationsOptions<T, C>,
): Promise<void> {
  await app.register(
    async (scope) => {
      scope.addContentTypeParser("application/zip", (_request, payload, done) => done(null, payload));
      for (const [id, operation] of Object.entries(table)) registerOperation(scope, id, operation, options);
      refuseOtherMethods(scope, Object.values(table));
    },
    { prefix: options.prefix },
  );
}

function registerOperation<T extends OperationTable, C>(
  app: FastifyInstance,
  id: keyof T & string,
  operation: Operation,
  options: OperationsOptions<T, C>,
): void {
  const callers = new WeakMap<FastifyRequest, C>();
  const handle = options.handlers[id] as unknown as (
    request: OperationRequest<Operation, C>,
  ) => Promise<OperationReply<Operation>>;
  app.route({
    method: operation.method,
    url: toRoutePath(operation.path),
    schema: {
      ...(operation.params ? { params: operation.params } : {}),
      ...(operation.query ? { querystring: operation.query } : {}),
      ...(operation.body ? { body: operation.body } : {}),
      response: Object.fromEntries(
        Object.entries(operation.responses).flatMap(([status, response]) =>
          response.schema ? [[status, response.schema]] : [],
        ),
      ),
    },
    ...readIntegers(operation.query),
    onRequest: async (request) => {
      requireJsonAccepted(request);
      callers.set(request, await options.authorize(request, id));
      requireBodyType(request, operation);
    },
    handler: async (request, reply) => {
      const caller = callers.get(request) as C;
      const answer = await handle({
        params: request.params as never,
        query: request.query as never,
        body: request.body as never,
        caller,
        http: request,
        reply,
      });
      return reply
        .code(answer.status)
        .headers(answer.headers ?? {})
        .send("body" in answer ? answer.body : undefined);
    },
  });
}

/** A query string carries text: where the schema wants an integer, digits become one. All else stays text, which the schema refuses. */
function readIntegers(query: TObject | undefined): Pick<RouteShorthandOptions, "preValidation"> {
  const names = Object.entries(query?.properties ?? {}).flatMap(([name, property]) =>
    "type" in property && property.type === "integer" ? [name] : [],
  );
  if (names.length === 0) return {};
  return {
    preValidation: async (request) => {
      const given = request.query as Record<string, unknown>;
      for (const name of names) {
        const text = given[name];
        if (typeof text === "string" && DIGITS.test(text)) given[name] = Number(text);
      }
    },
  };
}

/** `Accept` must leave room for JSON. @throws Problem NOT_ACCEPTABLE */
export function requireJsonAccepted(request: FastifyRequest): void {
  const accept = request.headers.accept;
  if (accept === undefined || accept === "" || /(?:application|\*)\/(?:json|\*|[\w.-]+\+json)/i.test(accept))
    return;
  throw new Problem(
    "NOT_ACCEPTABLE",
    `Only application/json can be answered, and the Accept header "${accept.slice(0, 100)}" excludes it.`,
  );
}

function requireBodyType(request: FastifyRequest, operation: Operation): void {
  const wanted = operation.bodyType ?? (operation.body ? "application/json" : null);
  if (wanted === null) return;
  const given = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
  if (given !== wanted)
    throw new Problem(
      "UNSUPPORTED_MEDIA_TYPE",
      `The body must be ${wanted}${given ? `, not ${given.slice(0, 100)}` : "; the Content-Type header is missing"}.`,
    );
}
