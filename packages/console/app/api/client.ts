import { createClient } from "@platform/contract/client";
import type { Client, RawJson } from "@platform/contract/client";
import type { PLATFORM_API } from "@platform/contract/platform-api/platform-api";
import { PLATFORM_ROUTES } from "@platform/contract/platform-api/routes.gen";
import type { REQUESTED_BY } from "@platform/contract/platform-api/session";
import type { QUANTUM_API } from "@platform/contract/quantum-api/quantum-api";
import { QUANTUM_ROUTES } from "@platform/contract/quantum-api/routes.gen";

/** All operations of the platform API and of the quantum API, typed by the tables and sent by the routes alone. */
export type PlatformApi = Client<typeof PLATFORM_API> & Client<typeof QUANTUM_API>;

/** Name of an operation. */
export type OperationId = keyof PlatformApi;

/** What an operation is called with. */
export type RequestOf<K extends OperationId> = Parameters<PlatformApi[K]>[0];

/** The body of an operation; where it may be left out, it may be given. */
export type BodyOf<K extends OperationId> =
  RequestOf<K> extends { readonly body?: infer Body } ? Exclude<Body, undefined> : never;

/** The same as its fields, which a form holds: not as the text of JSON. */
export type FieldsOf<K extends OperationId> = Exclude<BodyOf<K>, RawJson>;

/** What an operation answers. */
export type AnswerOf<K extends OperationId> = Awaited<ReturnType<PlatformApi[K]>>;

/** Of an operation that answers in pages: one of their items. */
export type ItemOf<K extends OperationId> =
  AnswerOf<K> extends { readonly items: readonly (infer Item)[] } ? Item : never;

/** Path of the platform API on the console's own origin. */
export const API_PATH = "/api";

/** Path of the quantum API there: another one, for the same session, organisation and rules. */
const QUANTUM_PATH = "/quantum";

/** What a client sends each operation by, and who may call it. */
export const ROUTES = { ...PLATFORM_ROUTES, ...QUANTUM_ROUTES };

/** Path of the API that the operation is one of. */
export function findApiPath(op: OperationId): string {
  return Object.hasOwn(QUANTUM_ROUTES, op) ? QUANTUM_PATH : API_PATH;
}

/** Part of the proof that a request with the session's cookie comes from the console itself; browsers add the rest. */
const REQUESTED: typeof REQUESTED_BY = "console";

/** In whose name requests are sent. */
export interface Sender {
  /** null: whoever has signed in, or nobody. Otherwise the session of any other user is refused. */
  readonly userId: string | null;
  /** null: the user's own, which is right for what concerns the user alone. */
  readonly organizationId: string | null;
}

/** What every request carries. */
export function createHeaders({ userId, organizationId }: Sender): Record<string, string> {
  return {
    "x-requested-by": REQUESTED,
    ...(userId === null ? {} : { "x-userid": userId }),
    ...(organizationId === null ? {} : { "x-organizationid": organizationId }),
  };
}

/** A client of one user and organisation. */
export function createPlatformApi(sender: Sender): PlatformApi {
  const headers = createHeaders(sender);
  const options = { headers: () => headers };
  return {
    ...createClient<typeof PLATFORM_API>(PLATFORM_ROUTES, { ...options, baseUrl: API_PATH }),
    ...createClient<typeof QUANTUM_API>(QUANTUM_ROUTES, { ...options, baseUrl: QUANTUM_PATH }),
  };
}
