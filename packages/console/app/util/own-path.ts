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

const NEXT = "platform.next";

/** Keeps where to go while the browser is at an identity provider. */
export function keepNext(next: string | undefined): void {
  try {
    sessionStorage.setItem(NEXT, toOwnPath(next));
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
