import { Type } from "typebox";
import { describe, expectTypeOf, test } from "vitest";
import type { OperationTable } from "@platform/contract/operation";
import type { SERVICE_API } from "@platform/contract/service-api";
import type { Readable } from "node:stream";
import type { OperationHandlers, OperationReply, OperationRequest } from "./types.ts";

const COMMON = {
  path: "/things/{id}",
  allows: "caller",
  scope: "user",
  rate: "write",
  summary: "A thing",
  description: "Of the test.",
  problems: [],
} as const;

const Thing = Type.Object({ name: Type.String() });

const TABLE = {
  rename: {
    ...COMMON,
    method: "POST",
    audit: "thing.rename",
    bodyMode: "json",
    answerMode: "json",
    params: Type.Object({ id: Type.String() }),
    query: Type.Object({ times: Type.Optional(Type.Integer()) }),
    body: Thing,
    responses: { 200: { description: "Unchanged", schema: Thing }, 204: { description: "Renamed" } },
  },
  upload: {
    ...COMMON,
    method: "PUT",
    audit: "thing.upload",
    bodyMode: "stream",
    answerMode: "none",
    responses: { 204: { description: "Uploaded" } },
  },
} as const satisfies OperationTable;

type Caller = { readonly userId: string };
type Handlers = OperationHandlers<typeof TABLE, Caller>;
type Rename = OperationRequest<(typeof TABLE)["rename"], Caller>;
type Upload = OperationRequest<(typeof TABLE)["upload"], Caller>;
type Headers = Readonly<Record<string, string>>;

describe("the types of handlers follow from the table", () => {
  test("what a handler is given", () => {
    expectTypeOf<Rename["params"]>().toEqualTypeOf<{ id: string }>();
    expectTypeOf<Rename["query"]>().toEqualTypeOf<{ times?: number }>();
    expectTypeOf<Rename["body"]>().toEqualTypeOf<{ name: string }>();
    expectTypeOf<Rename["caller"]>().toEqualTypeOf<Caller>();
    expectTypeOf<Upload["params"]>().toEqualTypeOf<undefined>();
    expectTypeOf<Upload["query"]>().toEqualTypeOf<undefined>();
    expectTypeOf<Upload["body"]>().toEqualTypeOf<Readable>();
  });

  test("what a handler may answer: a status that the row lists, with its body", () => {
    type Reply = OperationReply<(typeof TABLE)["rename"]>;
    expectTypeOf<Reply>().toEqualTypeOf<
      | { readonly status: 200; readonly body: { name: string }; readonly headers?: Headers }
      | { readonly status: 204; readonly headers?: Headers }
    >();
    expectTypeOf<{ status: 201; body: { name: string } }>().not.toExtend<Reply>();
    expectTypeOf<{ status: 200 }>().not.toExtend<Reply>();
    expectTypeOf<{ status: 200; body: { title: string } }>().not.toExtend<Reply>();
  });

  test("a row whose answer is bytes has a handler that writes them", () => {
    type Start = OperationReply<(typeof SERVICE_API)["startExecution"]>;
    expectTypeOf<Start["status"]>().toEqualTypeOf<200 | 201>();
    expectTypeOf<Start["body"]>().toEqualTypeOf<string | Uint8Array | Readable>();
    expectTypeOf<
      OperationRequest<(typeof SERVICE_API)["startExecution"], Caller>["body"]
    >().toEqualTypeOf<Uint8Array>();
  });

  test("every operation has a handler, and no other", () => {
    expectTypeOf<keyof Handlers>().toEqualTypeOf<"rename" | "upload">();
    expectTypeOf<Pick<Handlers, "rename">>().not.toExtend<Handlers>();
  });
});
