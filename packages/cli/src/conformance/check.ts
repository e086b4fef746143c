import type { OperationResponse } from "@platform/contract/operation";

/** One answer, with its body as far as it was read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Undefined: the body is not JSON. */
  readonly json: unknown;
}

/** One request below the endpoint. */
export interface Sent {
  readonly method: "GET" | "POST" | "PUT" | "DELETE" | "PATCH";
  /** Appended to the endpoint, which has no final slash. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Without the access token. */
  readonly isAnonymous?: true;
}

/** What the answer must have. */
export interface Expected {
  readonly status: number;
  /** Of a refusal, which then has `detail` as well. */
  readonly code?: string;
  readonly headers?: Readonly<Record<string, RegExp>>;
  /** The body has the form of one of them. */
  readonly schemas?: readonly NonNullable<OperationResponse["schema"]>[];
  /** What is wrong with it beyond that; null: nothing. */
  readonly findFault?: (answer: Answer, known: Known) => string | null;
}

/** What earlier checks have learned. */
export interface Known {
  /** Body of a start that the service accepts. */
  readonly body: string;
  /** Undefined: there is none. */
  readonly token?: string;
  /** The execution that runs to its end. */
  readonly id?: string;
  /** Its final status. */
  readonly status?: string;
  /** ETag of its final state. */
  readonly etag?: string;
  /** The execution that is cancelled. */
  readonly cancelledId?: string;
  /** The execution that was started with a key. */
  readonly keyedId?: string;
  /** The execution that begins later. */
  readonly laterId?: string;
  readonly batchId?: string;
}

/** One promise of the service API, and how it is tried. */
export interface Check {
  /** For `--json`: `subject-what`. */
  readonly name: string;
  /** The promise, as a sentence without a period. */
  readonly says: string;
  /** It is left out where this is not known. */
  readonly needs?: keyof Known;
  readonly send: (known: Known) => Sent;
  /** One of them. */
  readonly expect: readonly Expected[];
  /** The request is repeated until then, within the time for an execution. */
  readonly until?: (answer: Answer) => boolean;
  readonly learn?: (answer: Answer) => Partial<Known>;
}
