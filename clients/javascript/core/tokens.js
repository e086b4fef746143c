import { readAnswer } from "./answers.js";
import { refuse, send } from "./transport.js";

const SECOND = 1_000;
const RENEWED_BEFORE_MS = 60 * SECOND;

/** Gives the access token of an application: fetched once, shared by concurrent callers, renewed before it expires. */
export class Tokens {
  #url;
  #key;
  /** The request of the current token; null: there is none. @type {Promise<string> | null} */
  #token = null;
  #renewAt = 0;

  constructor(url, key) {
    this.#url = url;
    this.#key = key;
  }

  /** @returns {Promise<string>} @throws RequestRefused the key is not accepted */
  get() {
    if (this.#token === null || performance.now() >= this.#renewAt) {
      this.#renewAt = Infinity;
      const token = this.#fetch().catch((error) => {
        this.drop(token);
        throw error;
      });
      this.#token = token;
    }
    return this.#token;
  }

  /** Forgets a token that was refused, unless another caller has replaced it already. */
  drop(token) {
    if (this.#token === token) this.#token = null;
  }

  /** Uses another key from now on. */
  useKey(key) {
    this.#key = key;
    this.#token = null;
  }

  async #fetch() {
    const key = this.#key;
    // RFC 6749, section 2.3.1: both are encoded before they are joined.
    const pair = `${encodeURIComponent(key.keyId)}:${encodeURIComponent(key.secret)}`;
    const response = await send(this.#url, {
      method: "POST",
      headers: {
        authorization: `Basic ${btoa(pair)}`,
        "content-type": "application/x-www-form-urlencoded",
        accept: "application/json",
      },
      body: "grant_type=client_credentials",
    });
    if (response.status !== 200) throw refuse(response);
    const { access_token: token, expires_in: seconds } = readAnswer(response, "token");
    // 0, where the server does not say: then each request has its own.
    const lifetime = typeof seconds === "number" ? Math.max(0, seconds) * SECOND : 0;
    if (key === this.#key)
      this.#renewAt = performance.now() + lifetime - Math.min(RENEWED_BEFORE_MS, lifetime / 2);
    return token;
  }
}
