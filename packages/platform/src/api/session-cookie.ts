import type { IncomingHttpHeaders } from "node:http";
import { Problem } from "@platform/contract/problems";
import { REQUESTED_BY } from "@platform/contract/platform-api/session";

/*
 * The cookie of a session, and the proof that a request with it comes from the console itself (CSRF). Browsers attach cookies to
 * requests of any page, so a cookie alone proves nothing. Three locks, no token to carry:
 *
 * 1. The header X-Requested-By, which a page of another origin can only send after a preflight, and no preflight is granted. A link that
 *    saves a file has no headers: for these, which no browser shows, the second lock is enough where the browser says what it needs, and
 *    that it is for no part of a page (Sec-Fetch-Dest). A file is its owner's text: as a script it would run in the console, whose policy
 *    trusts its own origin, and neither Content-Disposition nor the policy of the file keeps it from that.
 * 2. Sec-Fetch-Site must be same-origin. Browsers leave it out on plain http but for loopback: there Origin must be the platform
 *    API's. A GET of the same origin has no Origin either, and passes with the first lock alone: it changes nothing.
 * 3. A body must be of the media type of its operation, none of which a form can send (http/accept.ts in the engine).
 *
 * A cookie is sent to all ports of a host, so the gateway gets it as well: it never reads it, and a page of it is same-site, which the
 * second lock refuses.
 */

/** The cookie of one platform. */
export interface SessionCookie {
  /** What the cookie holds; null: there is none. @throws Problem UNAUTHENTICATED when there are several of the name */
  readonly read: (headers: IncomingHttpHeaders) => string | null;
  /** The header Set-Cookie. */
  readonly write: (value: string) => string;
  /** The header Set-Cookie that removes it. */
  readonly remove: () => string;
  /** Checks locks 1 and 2. `isDownload`: a link may ask. @throws Problem FORBIDDEN */
  readonly requireProof: (method: string, headers: IncomingHttpHeaders, isDownload?: boolean) => void;
}

/** Longer than any session: its end is the server's. */
const MAX_AGE_SECONDS = 30 * 24 * 60 * 60;

/** Where browsers say that the answer to a link goes: `empty` where the link has the attribute `download`. */
const LINK_DESTINATIONS: ReadonlySet<unknown> = new Set(["document", "empty"]);

/** What else a cookie may be for. */
interface CookieOptions {
  /** Behind `platform_`. */
  readonly purpose: string;
  readonly maxAgeSeconds: number;
}

const SESSION: CookieOptions = { purpose: "session", maxAgeSeconds: MAX_AGE_SECONDS };

/** `apiUrl`: origin of the platform API as browsers see it. */
export function createSessionCookie(apiUrl: string, { purpose, maxAgeSeconds } = SESSION): SessionCookie {
  const { origin, protocol } = new URL(apiUrl);
  const isSecure = protocol === "https:";
  // With this prefix a browser accepts it from this very host only, and only over https (RFC 6265bis 4.1.3.2).
  const name = `${isSecure ? "__Host-" : ""}platform_${purpose}`;
  const describe = (value: string, maxAge: number) =>
    `${name}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`;
  return {
    read: (headers) => readCookie(headers.cookie, name),
    write: (value) => describe(value, maxAgeSeconds),
    remove: () => describe("", 0),
    requireProof: (method, headers, isDownload = false) => {
      const site = headers["sec-fetch-site"];
      const isLink = isDownload && LINK_DESTINATIONS.has(headers["sec-fetch-dest"]);
      if (isLink && site === "same-origin" && isReading(method)) return;
      if (headers["x-requested-by"] !== REQUESTED_BY)
        throw refuse(`Requests with a session's cookie need the header X-Requested-By: ${REQUESTED_BY}.`);
      if (site === undefined ? isOwnOrigin(method, headers.origin, origin) : site === "same-origin") return;
      throw refuse(
        `Requests with a session's cookie are accepted from pages of ${origin} only. If this is such a page, --api-url is not the address that browsers use.`,
      );
    },
  };
}

function isOwnOrigin(method: string, given: string | undefined, origin: string): boolean {
  return given === undefined ? isReading(method) : given === origin;
}

function isReading(method: string): boolean {
  return method === "GET" || method === "HEAD";
}

/**
 * Of several cookies of one name, one may come from another host of the same domain. Not UNAUTHENTICATED: a page would take it for the end of
 * the session, which goes on once the other cookie is gone.
 */
function readCookie(header: string | undefined, name: string): string | null {
  if (header === undefined) return null;
  const values = header.split(";").flatMap((pair) => {
    const [key, value] = splitOnce(pair, "=");
    return key.trim() === name ? [value.trim()] : [];
  });
  const [value, ...others] = values;
  if (others.length > 0)
    throw new Problem(
      "INVALID_INPUT",
      `There are several cookies named ${name}; delete them and sign in again.`,
    );
  return value === undefined || value === "" ? null : value;
}

function splitOnce(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function refuse(detail: string): Problem {
  return new Problem("FORBIDDEN", `${detail} Programs use a personal access token instead.`);
}
