import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "@platform/contract/problems";
import type { ProblemBody, ProblemCode } from "@platform/contract/problems";
import { toFieldErrors } from "./field-errors.ts";
import { REQUEST_ID_HEADER } from "./observe-requests.ts";

const CODE_OF_STATUS: Readonly<Record<number, ProblemCode>> = {
  404: "NOT_FOUND",
  405: "METHOD_NOT_ALLOWED",
  406: "NOT_ACCEPTABLE",
  413: "INPUT_TOO_LARGE",
  415: "UNSUPPORTED_MEDIA_TYPE",
  429: "RATE_LIMITED",
  503: "UNAVAILABLE",
};

/** Limits of bodies differ by operation, so 1 MB, as the code's own text says, is not the limit of all. */
const OWN_DETAILS: Readonly<Partial<Record<ProblemCode, string>>> = {
  INPUT_TOO_LARGE:
    "The body is larger than this operation accepts; services take large input by reference, with dataRef or paramsRef.",
};

/** The problem to answer with; a bug is logged, and the caller gets only the request id. */
export function toProblem(error: unknown, request: FastifyRequest): Problem {
  if (error instanceof Problem) return error;
  if (isFastifyError(error) && error.statusCode !== undefined && error.statusCode < 500)
    return toRequestProblem(error);
  request.log.error({ err: error, method: request.method, path: describePath(request) }, "request failed");
  return new Problem("INTERNAL_ERROR", undefined, { cause: error });
}

/** Parameters of paths that are the token of a link: whoever reads it can use it. */
const SECRET_PARAMETER = /:(?:token|invitation)(?![A-Za-z0-9_])/u;

/** For the log: without the query, in which a provider of sign-in sends its code, and without the tokens of links. */
function describePath({ url, routeOptions }: FastifyRequest): string {
  const route = routeOptions.url ?? "";
  return SECRET_PARAMETER.test(route) ? route : url.replace(/\?.*/su, "");
}

/** Sends the problem as JSON with its status and headers. From status 500 on, the body names the request id. `more`: further fields. */
export function sendProblem(
  problem: Problem,
  request: FastifyRequest,
  reply: FastifyReply,
  more: Partial<ProblemBody> = {},
): FastifyReply {
  // The framework would end the connection: a client that is still sending would fail before it reads the answer. The rest is read and dropped.
  if (isBodyTooLarge(problem.cause)) reply.removeHeader("connection");
  const requestId = problem.status >= 500 ? { requestId: request.id } : {};
  const body = { ...problem.toBody(), ...more, ...requestId };
  return (
    reply
      .code(problem.status)
      .headers(problem.headers)
      // Here as well: what the framework refuses passes no hook.
      .header(REQUEST_ID_HEADER, request.id)
      .header("content-type", "application/json; charset=utf-8")
      .send(JSON.stringify(body))
  );
}

/** Whether the framework refused a body because of its size, of which it then reads the rest; what others refuse may be read by nobody any more. */
function isBodyTooLarge(error: unknown): boolean {
  return isFastifyError(error) && error.code === "FST_ERR_CTP_BODY_TOO_LARGE";
}

function isFastifyError(error: unknown): error is FastifyError {
  return error instanceof Error && "code" in error;
}

function toRequestProblem(error: FastifyError): Problem {
  if (error.validation !== undefined) {
    const errors = toFieldErrors(error.validation);
    const where = error.validationContext ?? "request";
    const detail = errors.map((item) => `${where}${item.path} ${item.message}`).join(" ");
    // Without the error as cause: it has the values, a password among them, and somebody may log it one day.
    return new Problem("INVALID_INPUT", detail, { errors });
  }
  if (error.code === "FST_ERR_BAD_URL")
    return new Problem(
      "INVALID_INPUT",
      "The path has a % that begins no character of UTF-8; write it as %25.",
    );
  if (error.code === "FST_ERR_CTP_INVALID_MEDIA_TYPE")
    return new Problem("UNSUPPORTED_MEDIA_TYPE", "The Content-Type header is no media type; correct it.");
  const code = CODE_OF_STATUS[error.statusCode ?? 400] ?? "INVALID_INPUT";
  return new Problem(code, code === "INVALID_INPUT" ? error.message : OWN_DETAILS[code], { cause: error });
}
