import type { Operation, OperationTable } from "@platform/contract/operation";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Static, TSchema } from "typebox";

type Validated<O, K extends string> = O extends { readonly [P in K]: infer T extends TSchema }
  ? Static<T>
  : undefined;

/** A validated request: what does not fit the operation's schemas never reaches a handler. */
export interface OperationRequest<O extends Operation, C> {
  readonly params: Validated<O, "params">;
  readonly query: Validated<O, "query">;
  readonly body: Validated<O, "body">;
  readonly caller: C;
  readonly http: FastifyRequest;
  readonly reply: FastifyReply;
}

/** What a handler answers: a status that the operation lists, and its body. */
export type OperationReply<O extends Operation> = {
  [S in keyof O["responses"]]: O["responses"][S] extends { readonly schema: infer T extends TSchema }
    ? { readonly status: S; readonly body: Static<T>; readonly headers?: Readonly<Record<string, string>> }
    : { readonly status: S; readonly headers?: Readonly<Record<string, string>> };
}[keyof O["responses"]];

export type OperationHandlers<T extends OperationTable, C> = {
  readonly [K in keyof T]: (request: OperationRequest<T[K], C>) => Promise<OperationReply<T[K]>>;
};
