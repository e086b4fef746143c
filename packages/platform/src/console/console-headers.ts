/** Headers of all answers of the console. */
export type ConsoleHeaders = Readonly<Record<string, string>>;

const YEAR_SECONDS = 31_536_000;

/** What a page of the console never asks for, so that nothing that got into it can. */
const REFUSED_FEATURES = [
  "accelerometer",
  "autoplay",
  "bluetooth",
  "camera",
  "clipboard-read",
  "display-capture",
  "encrypted-media",
  "fullscreen",
  "geolocation",
  "gyroscope",
  "hid",
  "idle-detection",
  "local-fonts",
  "magnetometer",
  "microphone",
  "midi",
  "payment",
  "picture-in-picture",
  "publickey-credentials-get",
  "screen-wake-lock",
  "serial",
  "usb",
  "web-share",
  "xr-spatial-tracking",
];

/**
 * A file that a browser opens by itself is no page of the console: nothing in it runs, an SVG least of all. Not for scripts, as the policy
 * of a worker's script would be that of the worker.
 */
export const FILE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox";

/** The policy of a page: nothing is loaded from elsewhere, and no script stands in the page. */
export function describePagePolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
}

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
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    // The paths of some pages have the token of a link.
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": [...REFUSED_FEATURES.map((name) => `${name}=()`), "clipboard-write=(self)"].join(
      ", ",
    ),
    ...(isSecure ? { "strict-transport-security": `max-age=${YEAR_SECONDS}` } : {}),
  };
}
