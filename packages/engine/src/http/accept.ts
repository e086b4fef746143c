import type { FastifyRequest } from "fastify";
import { BODY_TYPES, FORM_TYPE } from "@platform/contract/operation";
import type { Operation } from "@platform/contract/operation";
import { Problem } from "@platform/contract/problems";

const JSON_ANSWER = {
  name: "application/json",
  accepted: /(?:application|\*)\/(?:json|\*|[\w.-]+\+json)/i,
} as const;
const EVENTS_ANSWER = { name: "text/event-stream", accepted: /(?:text|\*)\/(?:event-stream|\*)/i } as const;

/** Checks that `Accept` allows JSON, or events where the row answers those; content has a type of its own. @throws Problem NOT_ACCEPTABLE */
export function requireAccepted(request: FastifyRequest, { answerMode }: Operation): void {
  if (answerMode === "content") return;
  const accept = request.headers.accept;
  if (answerMode === "json-or-events" && isStreamWanted(request)) return;
  const { name, accepted } = answerMode === "events" ? EVENTS_ANSWER : JSON_ANSWER;
  if (accept === undefined || accept === "" || accepted.test(accept)) return;
  throw new Problem(
    "NOT_ACCEPTABLE",
    `Only ${name} can be answered, and the Accept header "${accept.slice(0, 100)}" excludes it.`,
  );
}

/** Whether Accept names events: what accepts anything gets JSON. */
export function isStreamWanted(request: FastifyRequest): boolean {
  return /text\/event-stream/i.test(request.headers.accept ?? "");
}

/** Checks the media type: an operation with a body accepts exactly one (or a form as well), or none where the body may be missing; JSON must not be compressed. @throws Problem UNSUPPORTED_MEDIA_TYPE */
export function requireBodyType(request: FastifyRequest, { bodyMode, acceptsForm }: Operation): void {
  const wanted = BODY_TYPES[bodyMode];
  if (wanted === null) return;
  if (wanted === JSON_ANSWER.name) requireNoEncoding(request);
  const given = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
  if (given === wanted || (given === undefined && bodyMode === "optional")) return;
  if (given === FORM_TYPE && acceptsForm) return;
  throw new Problem(
    "UNSUPPORTED_MEDIA_TYPE",
    `The body must be ${wanted}${given ? `, not ${given.slice(0, 100)}` : "; the Content-Type header is missing"}.`,
  );
}

function requireNoEncoding(request: FastifyRequest): void {
  const encoding = request.headers["content-encoding"]?.trim().toLowerCase() ?? "";
  if (encoding === "" || encoding === "identity") return;
  throw new Problem(
    "UNSUPPORTED_MEDIA_TYPE",
    `The body must be sent as it is, without the Content-Encoding ${encoding.slice(0, 100)}.`,
  );
}
