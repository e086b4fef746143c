import type { FastifyRequest, RouteShorthandOptions } from "fastify";
import type { Operation } from "@platform/contract/operation";

/** A whole number that is exact: how large it may be is said by the schema. */
const DIGITS = /^[0-9]{1,15}$/;

type Checks = Pick<RouteShorthandOptions, "schema" | "preValidation">;

/**
 * Validates path, query and body against the schemas of the row, before a handler sees them. Rows that answer bytes are
 * the hot paths: their handlers validate what they read.
 */
export function describeChecks(
  operation: Operation,
  validate: ((request: FastifyRequest) => void) | undefined,
): Checks {
  const isBySchema = operation.answerMode !== "bytes";
  const integers = isBySchema ? listByType(operation, "integer") : [];
  const lists = isBySchema ? listByType(operation, "array") : [];
  const mayLackBody = operation.bodyMode === "optional";
  const prepare = async (request: FastifyRequest) => {
    if (mayLackBody && request.body === undefined) request.body = {};
    validate?.(request);
    readIntegers(request, integers);
    readLists(request, lists);
  };
  return {
    ...(isBySchema ? { schema: toSchemas(operation) } : {}),
    ...(validate !== undefined || integers.length + lists.length > 0 || mayLackBody
      ? { preValidation: prepare }
      : {}),
  };
}

function toSchemas({ params, query, body, bodyMode, responses }: Operation): NonNullable<Checks["schema"]> {
  return {
    ...(params ? { params } : {}),
    // A filter that is misspelled would otherwise be no filter.
    ...(query ? { querystring: { ...query, additionalProperties: false } } : {}),
    // Bytes are read by the handler.
    ...(body && (bodyMode === "json" || bodyMode === "optional") ? { body } : {}),
    response: Object.fromEntries(
      Object.entries(responses).flatMap(([status, { schema }]) => (schema ? [[status, schema]] : [])),
    ),
  };
}

function listByType({ query }: Operation, type: "integer" | "array"): readonly string[] {
  return Object.entries(query?.properties ?? {}).flatMap(([name, property]) =>
    "type" in property && property.type === type ? [name] : [],
  );
}

/** The values of a query string are text: where the schema wants an integer, digits are converted. Other text stays, and the schema refuses it. */
function readIntegers(request: FastifyRequest, names: readonly string[]): void {
  const given = request.query as Record<string, unknown>;
  for (const name of names) {
    const text = given[name];
    if (typeof text === "string" && DIGITS.test(text)) given[name] = Number(text);
  }
}

/** A parameter that may be given several times is a list also where it was given once. */
function readLists(request: FastifyRequest, names: readonly string[]): void {
  const given = request.query as Record<string, unknown>;
  for (const name of names) {
    const text = given[name];
    if (typeof text === "string") given[name] = [text];
  }
}
