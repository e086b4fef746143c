/** Where to go after signing in: only a path of the console itself, since a link to the sign-in page must not lead elsewhere. */
export function toOwnPath(next: string | undefined): string {
  if (next === undefined || !next.startsWith("/")) return "/";
  try {
    const { origin, pathname, search, hash } = new URL(next, "http://console.invalid");
    // Without its dots, "/.//host" is an address of a host.
    const isOwn = origin === "http://console.invalid" && !pathname.startsWith("//");
    return isOwn ? `${pathname}${search}${hash}` : "/";
  } catch {
    return "/";
  }
}

/** Whether a path has the token of a link that was sent to somebody (routes/links.ts): whoever reads it can use it. */
export function hasToken(next: string | undefined): boolean {
  return /^\/(?:invitations|verify-email|reset-password)\/./u.test(toOwnPath(next));
}

const NEXT = "platform.next";

/** Keeps where to go while the browser is at an identity provider; not where that would keep a token. */
export function keepNext(next: string | undefined): void {
  try {
    sessionStorage.setItem(NEXT, hasToken(next) ? "/" : toOwnPath(next));
  } catch {
    // Then the first page is shown.
  }
}

/** What was kept, once. */
export function takeNext(): string {
  try {
    const next = sessionStorage.getItem(NEXT) ?? undefined;
    sessionStorage.removeItem(NEXT);
    return toOwnPath(next);
  } catch {
    return "/";
  }
}
