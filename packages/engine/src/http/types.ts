import type { Readable } from "node:stream";
import type { Operation, OperationTable } from "@platform/contract/operation";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { SentEvents } from "./event-stream.ts";
import type { SentContent } from "./send-content.ts";
import type { Static, TSchema } from "typebox";

type Validated<O, K extends string> = O extends { readonly [P in K]: infer T extends TSchema }
  ? Static<T>
  : undefined;

type Query<O> = O extends { readonly answerMode: "bytes" }
  ? Readonly<Record<string, unknown>>
  : Validated<O, "query">;

interface Bodies<O> {
  readonly none: undefined;
  readonly json: Validated<O, "body">;
  readonly optional: Validated<O, "body">;
  /** The bytes as received; empty when there was no body. */
  readonly raw: Uint8Array;
  readonly batch: Uint8Array;
  /** The body as a stream. */
  readonly stream: Readable;
  readonly file: Readable;
}

type Answer<O, T extends TSchema> = O extends { readonly answerMode: "bytes" }
  ? string | Uint8Array | Readable
  : Static<T>;

interface HandlerRequest<Params, QueryString, Body, C> {
  readonly params: Params;
  readonly query: QueryString;
  readonly body: Body;
  readonly caller: C;
  readonly http: FastifyRequest;
  /** For what a reply cannot express: headers that a refusal has as well, and whether the caller has disconnected. */
  readonly reply: FastifyReply;
  /** For handlers that read the body themselves, after it: whether the caller may still do this. @throws Problem */
  readonly requireStill: () => Promise<void>;
}

/** Who calls: null where the row asks nobody. */
type CallerOf<O, C> = O extends { readonly allows: "public" } ? null : C;

/** A request as the row of its operation describes it: a request that does not match the row never reaches a handler. */
export type OperationRequest<O extends Operation, C> = HandlerRequest<
  Validated<O, "params">,
  Query<O>,
  Bodies<O>[O["bodyMode"]],
  CallerOf<O, C>
>;

/** What a handler answers: a status that the operation lists, and its body. */
export type OperationReply<O extends Operation> = O extends { readonly answerMode: "content" }
  ? { readonly status: 200; readonly body: SentContent; readonly headers?: undefined }
  : O extends { readonly answerMode: "events" }
    ? { readonly status: 200; readonly body: SentEvents; readonly headers?: undefined }
    : ReplyOf<O> | StreamOf<O>;

/** The stream that a row may answer in place of JSON. */
type StreamOf<O extends Operation> = O extends { readonly answerMode: "json-or-events" }
  ? {
      readonly status: 200;
      readonly events: SentEvents;
      readonly body?: undefined;
      readonly headers?: undefined;
    }
  : never;

type ReplyOf<O extends Operation> = {
  [S in keyof O["responses"]]: O["responses"][S] extends { readonly schema: infer T extends TSchema }
    ? { readonly status: S; readonly body: Answer<O, T>; readonly headers?: Readonly<Record<string, string>> }
    : { readonly status: S; readonly headers?: Readonly<Record<string, string>> };
}[keyof O["responses"]];

/** Returns without a promise where it can: most requests are polls. */
type Handler<Request, Reply> = (request: Request) => Reply | Promise<Reply>;

/** A call of an operation that changes something. */
export interface AuditedCall<C> {
  readonly operation: Operation;
  /** Null where the row asks nobody. */
  readonly caller: C | null;
  readonly request: FastifyRequest;
}

/** Writes down who changes what. Called for rows with a name in the audit log. */
export interface AuditStage<C> {
  /**
   * Runs the handler of the operation, and sees to its entry before the answer. Not called for starts: an execution is its own
   * record, and starts must not wait for each other.
   */
  readonly record: <T extends { readonly body?: unknown }>(
    call: AuditedCall<C>,
    handle: () => T | Promise<T>,
  ) => Promise<T>;
  /** The caller may not call the operation, as `error` says. Resolves when that is written. */
  readonly refuse: (call: AuditedCall<C>, error: unknown) => Promise<void>;
}

/** One handler for each row of an operation table, by the row's key; their types follow from the row. */
export type OperationHandlers<T extends OperationTable, C> = {
  readonly [K in keyof T]: Handler<OperationRequest<T[K], C>, OperationReply<T[K]>>;
};
