/** Base of all errors of this client. */
export class ClientError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = new.target.name;
  }
}

class NotSucceeded extends ClientError {
  constructor(code, detail, id, body) {
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

/** The server refused a request, and asking again as it is would not help. */
export class RequestRefused extends ClientError {
  constructor(status, body, requestId) {
    // The token endpoint answers in the form of OAuth.
    const code = String(body.code ?? body.error ?? `HTTP_${status}`);
    const detail = String(body.detail ?? body.error_description ?? "");
    super(`${status} ${code}: ${detail} (request ${requestId})`);
    Object.assign(this, { status, code, detail, errors: body.errors ?? [], requestId, body });
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
