import { useQuery } from "@tanstack/react-query";
import { RequestRefused, buildUrl, createClient } from "@platform/contract/client";
import { createHeaders, findApiPath, ROUTES } from "./client.ts";
import type { PlatformApi, RequestOf } from "./client.ts";
import { saveBlob, saveLink } from "../ui/save.ts";
import { toSender, useScope } from "./scope.tsx";
import type { Scope } from "./scope.tsx";

/** What is answered as JSON that is shown as it is: parsing it would change numbers that no double has. */
export type TextOperation =
  | "getExecutionInput"
  | "getExecutionResult"
  | "getQuantumJobInput"
  | "getQuantumJobResult"
  | "getNormalQuantumJobResult";

/** What is answered as a file. */
export type ContentOperation = {
  [K in keyof PlatformApi]: Awaited<ReturnType<PlatformApi[K]>> extends Response ? K : never;
}[keyof PlatformApi];

type Call = (request: unknown) => Promise<Response>;

/** An operation whose answer is given on as it comes. `method`: another one than that of its row. */
function createCall(
  scope: Scope,
  op: TextOperation | ContentOperation,
  method: "GET" | "HEAD" = "GET",
): Call {
  const route = { ...ROUTES[op], answerMode: "content" as const, method: method as "GET" };
  const headers = createHeaders(toSender(scope));
  const client: unknown = createClient({ [op]: route }, { baseUrl: findApiPath(op), headers: () => headers });
  const send = (client as Readonly<Record<string, Call>>)[op];
  if (send === undefined) throw new Error(`There is no operation ${op}.`);
  return send;
}

/** The text of an answer, digit by digit. @throws RequestRefused */
export async function readText<K extends TextOperation>(
  scope: Scope,
  op: K,
  request: RequestOf<K>,
): Promise<string> {
  return (await createCall(scope, op)(request)).text();
}

/**
 * Saves a file of the platform as a file of the user. The browser fetches it by a link, so that a large file goes through no memory of the
 * page; where browsers do not tell the platform that it is the console's link (plain http beside loopback), the page fetches it.
 *
 * @throws RequestRefused, TypeError when the platform is not reached
 */
export async function saveContent<K extends ContentOperation>(
  scope: Scope,
  op: K,
  request: RequestOf<K>,
  name: string,
): Promise<void> {
  if (!globalThis.isSecureContext || (await isRefused(scope, op, request)))
    return saveBlob(name, await (await createCall(scope, op)(request)).blob());
  const { params = {} } = request as { readonly params?: Readonly<Record<string, string>> };
  const query = scope.organisation === null ? {} : { organizationId: scope.organisation.id };
  saveLink(name, buildUrl(findApiPath(op), ROUTES[op], { params, query }));
  return undefined;
}

/** A link that is refused says nothing to the page. Why it is refused, is in the answer to a GET. @throws TypeError likewise */
async function isRefused(scope: Scope, op: ContentOperation, request: unknown): Promise<boolean> {
  try {
    await createCall(scope, op, "HEAD")(request);
    return false;
  } catch (error) {
    if (error instanceof RequestRefused) return true;
    throw error;
  }
}

/** A text that the platform keeps byte by byte, as it is. `data`: undefined until it is there. */
export function useText<K extends TextOperation>(
  op: K,
  request: RequestOf<K>,
  isActive: boolean,
): { readonly data: string | undefined; readonly error: Error | null; readonly retry: () => void } {
  const scope = useScope();
  const { data, error, refetch } = useQuery({
    queryKey: [op, scope.key, request, "text"],
    queryFn: () => readText(scope, op, request),
    enabled: isActive,
    // It never changes, and may be large: it is kept while it is shown.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  return { data, error, retry: () => void refetch() };
}
