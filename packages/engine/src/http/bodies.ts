import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { MAX_BATCH_BYTES } from "@platform/contract/batch";
import { BODY_TYPES, FORM_TYPE } from "@platform/contract/operation";
import type { BodyMode, Operation } from "@platform/contract/operation";
import { parseExactNumbers } from "@platform/contract/exact-number";
import { Problem } from "@platform/contract/problems";
import { isDeeperThan } from "../base/json.ts";
import { readCounted, refuseLarger } from "./body-room.ts";
import type { BodyShare } from "./body-room.ts";
import { MAX_BODY_BYTES } from "../executions/start-body.ts";

/** Deeper than any schema of an operation; start bodies, which are read as bytes, have a bound of their own. */
const MAX_BODY_DEPTH = 32;
const NO_BYTES = new Uint8Array();
/** The JSON text that was parsed; null: nothing was. */
const TEXT = "bodyText";

/**
 * Makes all routes of a scope read their bodies in this mode; other media types are refused with 415.
 *
 * @param shareOf what the request has of the room of large bodies
 */
export function readBodiesAs(
  scope: FastifyInstance,
  mode: BodyMode,
  shareOf: (request: FastifyRequest) => BodyShare,
): void {
  switch (mode) {
    case "none":
      // Some clients send `{}`, or a content type without a body, although no body is expected: it is read and ignored.
      scope.addContentTypeParser(BODY_TYPES.json, { parseAs: "buffer" }, (_request, _body, done) =>
        done(null),
      );
      return;
    case "json":
    case "optional":
      scope.decorateRequest(TEXT, null);
      scope.addContentTypeParser(BODY_TYPES.json, { parseAs: "string" }, (request, body, done) => {
        try {
          request.setDecorator(TEXT, String(body));
          done(null, parseJson(String(body)));
        } catch (error) {
          done(error instanceof Problem ? error : new Problem("INVALID_JSON", undefined, { cause: error }));
        }
      });
      // For rows that accept forms; `requireBodyType` has refused it for the others.
      scope.addContentTypeParser(FORM_TYPE, { parseAs: "string" }, (_request, body, done) => {
        const fields = [...new URLSearchParams(String(body))];
        const isUnique = new Set(fields.map(([name]) => name)).size === fields.length;
        if (isUnique) done(null, Object.fromEntries(fields));
        else done(new Problem("INVALID_INPUT", "A field of the form is given twice."));
      });
      return;
    case "raw":
      scope.addContentTypeParser(
        BODY_TYPES.json,
        { parseAs: "buffer", bodyLimit: MAX_BODY_BYTES },
        (_request, body, done) => done(null, body),
      );
      return;
    case "batch":
      scope.addContentTypeParser(
        BODY_TYPES.json,
        async (request: FastifyRequest, payload: IncomingMessage) => {
          const declared = Number(request.headers["content-length"] ?? 0);
          if (declared > MAX_BATCH_BYTES) throw refuseLarger(MAX_BATCH_BYTES);
          return await readCounted(payload, shareOf(request), MAX_BATCH_BYTES);
        },
      );
      return;
    case "stream":
      scope.addContentTypeParser(BODY_TYPES.stream, (_request, _payload, done) => done(null));
      return;
    case "file":
      scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
      return;
    default:
      mode satisfies never;
  }
}

/** The `body` that the handler of this operation gets for a request that was read in its mode. */
export function pickBody(
  request: FastifyRequest,
  { bodyMode, keepsDigits }: Pick<Operation, "bodyMode" | "keepsDigits">,
): unknown {
  switch (bodyMode) {
    case "none":
      return undefined;
    case "json":
    case "optional": {
      const text = keepsDigits ? request.getDecorator<string | null>(TEXT) : null;
      return text === null ? request.body : parseExactNumbers(text);
    }
    case "raw":
    case "batch":
      return request.body ?? NO_BYTES;
    case "stream":
    case "file":
      return request.raw;
    default:
      return bodyMode satisfies never;
  }
}

/** @throws Problem INVALID_INPUT, SyntaxError */
function parseJson(text: string): unknown {
  const body: unknown = JSON.parse(text);
  if (isDeeperThan(body, MAX_BODY_DEPTH))
    throw new Problem("INVALID_INPUT", `The body is nested deeper than ${MAX_BODY_DEPTH} levels.`);
  return body;
}
