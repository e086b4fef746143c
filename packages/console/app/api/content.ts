import { useQuery } from "@tanstack/react-query";
import { createClient } from "@platform/contract/client";
import { PLATFORM_ROUTES } from "@platform/contract/platform-api/routes.gen";
import { API_PATH } from "./client.ts";
import type { PlatformApi, RequestOf } from "./client.ts";
import { saveBlob } from "../ui/save.ts";
import { useScope } from "./scope.tsx";
import type { Scope } from "./scope.tsx";

/** What is answered as the bytes that are stored: parsing it would change numbers that no double has. */
export type TextOperation = "getExecutionInput" | "getExecutionResult";

/** What is answered as a file. */
export type ContentOperation = {
  [K in keyof PlatformApi]: Awaited<ReturnType<PlatformApi[K]>> extends Response ? K : never;
}[keyof PlatformApi];

type Call = (request: unknown) => Promise<Response>;

/** The text of an answer, digit by digit. @throws RequestRefused */
export async function readText<K extends TextOperation>(
  scope: Scope,
  op: K,
  request: RequestOf<K>,
): Promise<string> {
  // The client gives content on as it came.
  const route = { ...PLATFORM_ROUTES[op], answerMode: "content" as const };
  const headers: Readonly<Record<string, string>> = {
    "x-requested-by": "console",
    ...(scope.organisation === null ? {} : { "x-organizationid": scope.organisation.id }),
  };
  const client: unknown = createClient(
    { [op]: route },
    {
      baseUrl: API_PATH,
      headers: () => headers,
    },
  );
  const send = (client as Readonly<Record<string, Call>>)[op];
  if (send === undefined) throw new Error(`There is no operation ${op}.`);
  return (await send(request)).text();
}

/** Saves a file of the platform as a file of the user. A plain link would lack the proof that the console asks. */
export async function saveContent<K extends ContentOperation>(
  scope: Scope,
  op: K,
  request: RequestOf<K>,
  name: string,
): Promise<void> {
  const send: unknown = scope.api[op];
  saveBlob(name, await (await (send as Call)(request)).blob());
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
