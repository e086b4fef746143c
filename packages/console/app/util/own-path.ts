/** Where to go after signing in: only a path of the console itself, since a link to the sign-in page must not lead elsewhere. */
export function toOwnPath(next: string | undefined): string {
  if (next === undefined || !next.startsWith("/")) return "/";
  try {
    const { origin, pathname, search, hash } = new URL(next, "http://console.invalid");
    return origin === "http://console.invalid" ? `${pathname}${search}${hash}` : "/";
  } catch {
    return "/";
  }
}
