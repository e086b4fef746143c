/** The first of these members that is a text; what a proxy says may be anything. */
function readText(body, ...names) {
  return names.map((name) => body[name]).find((text) => typeof text === "string" && text !== "") ?? "";
}

/** Base of all errors of this client. */
export class ClientError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = new.target.name;
  }
}

class NotSucceeded extends ClientError {
  constructor(status, id, body) {
    const code = readText(body, "code") || status;
    const detail = readText(body, "detail");
    super(`${code}: ${detail} (execution ${id})`);
    this.code = code;
    this.detail = detail;
    this.id = id;
    this.body = body;
  }
}

/** It raised, exceeded a limit, was cancelled or could not start: it did not succeed. */
export class ExecutionFailed extends NotSucceeded {}

/** The worker was lost while the code may have been running: nobody can say what it did. */
export class ExecutionUnknown extends NotSucceeded {}

/**
 * The server refused a request, and asking again as it is would not help. Also, with a `status` of 2xx, an answer that is not that of a
 * service.
 */
export class RequestRefused extends ClientError {
  constructor(status, body, requestId) {
    // The token endpoint answers in the form of OAuth.
    const code = readText(body, "code", "error") || `HTTP_${status}`;
    const detail = readText(body, "detail", "error_description");
    const errors = Array.isArray(body.errors) ? body.errors : [];
    super(`${status} ${code}: ${detail} (request ${requestId})`);
    Object.assign(this, { status, code, detail, errors, requestId, body });
  }
}

/** The waiting has ended, not the execution. */
export class WaitTimeout extends ClientError {
  constructor(id, seconds, options) {
    super(
      `Execution ${id} has not ended within ${seconds} s. It goes on: wait again, ask for its result later, or cancel it.`,
      options,
    );
    this.id = id;
  }
}

/** No answer came, however often it was tried; `cause` is the last failure. */
export class ServerUnreachable extends ClientError {}

/** The caller waits no longer, and the server gave no answer so far; `cause` says why. */
export class OutOfTime extends ClientError {}
