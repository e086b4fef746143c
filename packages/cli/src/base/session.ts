import { createClient } from "@platform/contract/client";
import type { Client } from "@platform/contract/client";
import { PLATFORM_API } from "@platform/contract/platform-api/platform-api";
import type { StoredConfig } from "./config-file.ts";
import type { CommandContext } from "./context.ts";
import { UserError } from "./errors.ts";
import type { Settings } from "./settings.ts";

/** Where the API of a platform listens that `npm start` started. */
const DEFAULT_ENDPOINT = "http://localhost:8090";

export type PlatformClient = Client<typeof PLATFORM_API>;

/** A logged-in view of one platform and one organisation. */
export interface Session {
  /** Origin and path prefix of the platform, without `/api` and final slash. */
  readonly endpoint: string;
  /** Null: the user's own organisation. */
  readonly organizationId: string | null;
  readonly client: PlatformClient;
  /** The same client, telling what came over the wire. */
  readonly connect: (observer: AnswerObserver) => PlatformClient;
}

/** The environment wins over the stored login. @throws UserError NOT_LOGGED_IN, INVALID_ENDPOINT */
export async function openSession(context: CommandContext): Promise<Session> {
  const stored = await context.config.read();
  const { settings } = context;
  const token = settings.personalAccessToken ?? stored.personalAccessToken;
  if (token === undefined) {
    throw new UserError("NOT_LOGGED_IN", "You are not logged in.", {
      hint: "Run 'platform login -t <personal access token>', or set PLATFORM_PERSONAL_ACCESS_TOKEN.",
    });
  }
  const endpoint = findEndpoint(settings, stored);
  warnOfPlainHttp(context, endpoint);
  const organizationId = settings.organizationId ?? stored.context?.id ?? null;
  const options = { endpoint, token, organizationId, signal: context.signal };
  return {
    endpoint,
    organizationId,
    client: createPlatformClient(options),
    connect: (observer) => createPlatformClient({ ...options, ...observer }),
  };
}

/** Loopback needs no encryption. */
export function warnOfPlainHttp({ output }: Pick<CommandContext, "output">, endpoint: string): void {
  const { protocol, hostname } = new URL(endpoint);
  if (protocol !== "http:" || /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)) return;
  output.warn(`${endpoint} is not encrypted: your token can be read, and used, by whoever is on the way.`);
}

export function findEndpoint(settings: Settings, stored: StoredConfig): string {
  return parseEndpoint(settings.endpoint ?? stored.endpoint ?? DEFAULT_ENDPOINT);
}

/** Accepts the platform's address with or without `/api` and final slashes. @throws UserError INVALID_ENDPOINT */
export function parseEndpoint(text: string): string {
  const hint = "It looks like https://platform.example.org or http://localhost:8090.";
  let url: URL;
  try {
    url = new URL(text);
  } catch (error) {
    throw new UserError("INVALID_ENDPOINT", `The endpoint '${text}' is not a URL.`, { cause: error, hint });
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw new UserError("INVALID_ENDPOINT", `The endpoint '${text}' is neither http nor https.`, { hint });
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "").replace(/\/api$/, "");
}

export interface AnswerObserver {
  /** Sees every answer's status before its body is read. */
  readonly onStatus?: (status: number) => void;
  /** Sees every answer's body before it is parsed. */
  readonly onText?: (text: string) => void;
}

export interface PlatformClientOptions extends AnswerObserver {
  readonly endpoint: string;
  readonly token: string;
  readonly organizationId: string | null;
  readonly signal: AbortSignal;
}

/** A typed client of the platform API that sends the token and ends with the command. */
export function createPlatformClient(options: PlatformClientOptions): PlatformClient {
  const headers = {
    authorization: `Bearer ${options.token}`,
    ...(options.organizationId === null ? {} : { "x-organizationid": options.organizationId }),
  };
  return createClient(PLATFORM_API, {
    baseUrl: `${options.endpoint}/api`,
    headers: () => headers,
    fetch: async (input, init) => {
      // Redirects would carry the token to another place, and turn a POST into a GET.
      const response = await fetch(input, { signal: options.signal, redirect: "manual", ...init });
      options.onStatus?.(response.status);
      checkIsOurs(response, options.endpoint);
      if (options.onText !== undefined) options.onText(await response.clone().text());
      return response;
    },
  });
}

/** A proxy's or another program's page must not be read as the platform's answer. */
function checkIsOurs(response: Response, endpoint: string): void {
  if (response.status === 204) return;
  const isRedirect = response.status >= 300 && response.status < 400;
  const isJson = (response.headers.get("content-type") ?? "").includes("json");
  if (!isRedirect && (isJson || !response.ok)) return;
  throw new UserError(
    "NOT_A_PLATFORM",
    `What answers at ${endpoint} is not a platform API (${isRedirect ? `redirect ${response.status}` : "no JSON"}).`,
    {
      hint: "Check the endpoint: 'platform login --endpoint URL' or PLATFORM_ENDPOINT. It is the API's address, not the gateway's.",
    },
  );
}

/** Where a job can be looked at. */
export function formatJobLink(endpoint: string, id: string): string {
  return `${endpoint}/api/jobs/${encodeURIComponent(id)}`;
}
