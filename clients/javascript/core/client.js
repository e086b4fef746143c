import { ExecutionFailed, ExecutionUnknown, OutOfTime, WaitTimeout } from "./errors.js";
import { readAnswer } from "./answers.js";
import {
  ANSWER_MS,
  VERSION,
  endBy,
  misread,
  pauseBetween,
  refuse,
  send,
  sleep,
  timeLeft,
} from "./transport.js";
import { Tokens } from "./tokens.js";
import { checkUrl, guessTokenUrl, readCursor, toPath } from "./urls.js";
import { Result, encodeStart } from "./values.js";

const SECOND = 1_000;
const LONG_POLL_SECONDS = 30;
const PAGE = 100;

/**
 * Starts executions of a service and fetches what becomes of them. What is left out comes from the environment:
 * PLATFORM_SERVICE_ENDPOINT, PLATFORM_ACCESS_KEY_ID, PLATFORM_ACCESS_KEY_SECRET and PLATFORM_TOKEN_URL. Without a key,
 * requests carry no token: `platform serve` needs none.
 */
export class Client {
  #endpoint;
  #tokens = null;

  constructor(options = {}) {
    const endpoint = options.endpoint || readEnvironment("PLATFORM_SERVICE_ENDPOINT");
    if (!endpoint) throw new TypeError("An endpoint is needed, or PLATFORM_SERVICE_ENDPOINT.");
    this.#endpoint = checkUrl(endpoint, "The endpoint");
    const keyId = options.keyId || readEnvironment("PLATFORM_ACCESS_KEY_ID");
    const secret = options.secret || readEnvironment("PLATFORM_ACCESS_KEY_SECRET");
    const url = options.tokenUrl || readEnvironment("PLATFORM_TOKEN_URL") || guessTokenUrl(this.#endpoint);
    if (keyId && secret && url !== null)
      this.#tokens = new Tokens(checkUrl(url, "The token URL"), { keyId, secret });
  }

  get endpoint() {
    return this.#endpoint;
  }

  /** Uses another key from now on, such as the one that replaces the former. */
  useKey(keyId, secret) {
    if (this.#tokens === null) throw new TypeError("The client was made without a key.");
    this.#tokens.useKey({ keyId, secret });
  }

  /** Starts an execution, once, however often the request has to be sent. */
  async start(data, params, { more, idempotencyKey } = {}) {
    const key = idempotencyKey ?? (await createKey());
    const headers = { "content-type": "application/json", "idempotency-key": key };
    const response = await this.#send("POST", "/", { headers, body: encodeStart(data, params, more) });
    return readAnswer(response, "execution");
  }

  /** The state at present. */
  async state(id) {
    return readAnswer(await this.#send("GET", toPath(id)), "execution");
  }

  /** Waits until the execution has ended, however it ended. @throws WaitTimeout not within `timeout` seconds; it goes on */
  async wait(id, { timeout } = {}) {
    const seconds = timeout ?? Infinity;
    if (typeof seconds !== "number" || Number.isNaN(seconds))
      throw new TypeError("The timeout has to be a number of seconds.");
    const until = performance.now() + seconds * SECOND;
    for (let early = 1; ;) {
      const began = performance.now();
      const { execution, headers } = await this.#look(id, until).catch((error) => {
        throw error instanceof OutOfTime ? new WaitTimeout(id, seconds, { cause: error }) : error;
      });
      if (execution.terminal) return execution;
      const left = timeLeft(until);
      if (left === 0) throw new WaitTimeout(id, seconds);
      const pause = pauseBetween(headers, performance.now() - began, early);
      await sleep(Math.min(left, pause));
      early = pause === 0 ? 1 : early + 1;
    }
  }

  /**
   * The result of an execution that has ended.
   *
   * @throws ExecutionFailed, ExecutionUnknown; RequestRefused with RESULT_NOT_READY: it has not ended yet
   */
  async result(id) {
    const response = await this.#send("GET", toPath(id, "result"));
    const body = readAnswer(response, "result");
    const { status } = body["_embedded"].status;
    if (status === "SUCCEEDED") return new Result(new TextDecoder().decode(response.bytes), body);
    const NotSucceeded = status === "UNKNOWN" ? ExecutionUnknown : ExecutionFailed;
    throw new NotSucceeded(status, id, body);
  }

  /** Starts, waits, and fetches the result: see `start`, `wait` and `result`. */
  async run(data, params, { timeout, more } = {}) {
    const execution = await this.start(data, params, { more });
    if (!execution.terminal) await this.wait(execution.id, { timeout });
    return await this.result(execution.id);
  }

  /** Cancels it: what waits ends at once, what runs within seconds. */
  async cancel(id) {
    return readAnswer(await this.#send("PUT", toPath(id, "cancel")), "execution");
  }

  /** The lines so far, oldest first. */
  async log(id) {
    return await this.#collect(toPath(id, "log"), {}, Infinity, "lines");
  }

  /** Names of the files of the result. */
  async files(id) {
    return (await this.result(id)).files;
  }

  /** The content of a file of the result, as a whole in memory. */
  async download(id, name) {
    return (await this.#send("GET", toPath(id, "result", name))).bytes;
  }

  /** The newest executions of the subscription, at most `limit`. */
  async list({ status, limit = PAGE } = {}) {
    const query = { limit: String(Math.min(limit, PAGE)), ...(status === undefined ? {} : { status }) };
    return await this.#collect("/", query, limit, "executions");
  }

  async #look(id, until) {
    const seconds = Math.floor(Math.min(timeLeft(until) / SECOND, LONG_POLL_SECONDS));
    const headers = seconds > 0 ? { prefer: `wait=${seconds}` } : {};
    const response = await this.#send("GET", toPath(id), {
      headers,
      until,
      answerMs: seconds * SECOND + ANSWER_MS,
    });
    return { execution: readAnswer(response, "execution"), headers: response.headers };
  }

  /** The items of all pages; of a link only the cursor, so that the token stays here. */
  async #collect(path, query, limit, wanted) {
    const items = [];
    for (let cursor = null; ;) {
      const search = new URLSearchParams(cursor === null ? query : { ...query, cursor }).toString();
      const response = await this.#send("GET", search === "" ? path : `${path}?${search}`);
      const page = readAnswer(response, wanted);
      for (const item of page) items.push(item);
      const next = readCursor(response.headers.get("link") ?? "");
      if (page.length === 0 || next === null || items.length >= limit) return items.slice(0, limit);
      if (next === cursor) throw misread(response, "the page that was asked for");
      cursor = next;
    }
  }

  async #send(method, path, { headers = {}, ...rest } = {}) {
    for (let tries = 1; ; tries += 1) {
      // Made here: a value that no header can have is the caller's fault, and sending it again would not help.
      const sent = new Headers({
        accept: "application/json, */*;q=0.5",
        "user-agent": `platform-client-js/${VERSION}`,
        ...headers,
      });
      const token = this.#tokens?.get();
      if (token !== undefined) sent.set("authorization", `Bearer ${await endBy(token, rest.until)}`);
      const response = await send(`${this.#endpoint}${path}`, { ...rest, method, headers: sent });
      if (response.status >= 200 && response.status < 300) return response;
      if (response.status !== 401 || token === undefined || tries === 2) throw refuse(response);
      this.#tokens.drop(token);
    }
  }
}

/** A variable that is set to nothing is not set. Node.js and Bun have `process`, Deno too; a browser has none. */
function readEnvironment(name) {
  return globalThis.process?.env?.[name];
}

/** Not `randomUUID`, which a browser has on secure pages only; Node.js 18 has `crypto` as a module only. */
async function createKey() {
  const source = globalThis.crypto ?? (await import("node:crypto")).webcrypto;
  const bytes = source.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
