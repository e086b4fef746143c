import { PAGE_HEADERS } from "@platform/engine/pages/page-headers";

/** Headers of all answers of the console. */
export type ConsoleHeaders = Readonly<Record<string, string>>;

const YEAR_SECONDS = 31_536_000;

/** Where the platform is, as browsers see it. */
export interface ConsoleUrls {
  readonly apiUrl: string;
  readonly gatewayUrl: string;
}

/** Headers of all answers of the console, besides the policy. */
export function describeHeaders({ apiUrl, gatewayUrl }: ConsoleUrls): ConsoleHeaders {
  const [api, gateway] = [new URL(apiUrl), new URL(gatewayUrl)];
  // It is for all ports of the host, and browsers would no longer reach a gateway there without TLS.
  const isSecure =
    api.protocol === "https:" && (gateway.protocol === "https:" || gateway.hostname !== api.hostname);
  return {
    ...PAGE_HEADERS,
    ...(isSecure ? { "strict-transport-security": `max-age=${YEAR_SECONDS}` } : {}),
  };
}
