import { randomBytes } from "node:crypto";

/** What a page of ours never asks for, so that nothing that got into it can. */
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
 * A file that a browser opens by itself is no page of ours: nothing in it runs, an SVG least of all. Not for scripts, as the policy
 * of a worker's script would be that of the worker.
 */
export const FILE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox";

/** Headers of all answers with pages and their files, besides the policy. */
export const PAGE_HEADERS = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  // The paths of some pages have the token of a link.
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": [...REFUSED_FEATURES.map((name) => `${name}=()`), "clipboard-write=(self)"].join(
    ", ",
  ),
} as const;

/** A page has a nonce of its own each time it is sent. */
export function createNonce(): string {
  return randomBytes(18).toString("base64url");
}

/** Headers of a page, besides those of all answers: nothing is loaded from elsewhere, and no script stands in the page. */
export function describePage(nonce: string): Readonly<Record<string, string>> {
  return {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "content-security-policy": describePolicy(nonce),
  };
}

function describePolicy(nonce: string): string {
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
