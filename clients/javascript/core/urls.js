/**
 * The URL without final slashes. It is not shown where it is wrong: it may have a password.
 *
 * @throws TypeError requests to it would go elsewhere than it seems, or nowhere
 */
export function checkUrl(url, name) {
  // Not three slashes: a URL object would take the first name of the path for the host.
  const isKnown =
    typeof url === "string" && /^https?:\/\/[^/][!-~]*$/iu.test(url) && !/[@?#\\"<>]/u.test(url);
  if (!isKnown || !canParse(url))
    throw new TypeError(
      `${name} has to be a URL such as https://host/path, with no user, query or fragment.`,
    );
  return url.replace(/\/+$/u, "");
}

function canParse(url) {
  try {
    return new URL(url).hostname !== "";
  } catch {
    return false;
  }
}

/** The path of these names. @throws TypeError one would be none, or lead to another path than it says */
export function toPath(...names) {
  const wrong = names.find((name) => typeof name !== "string" || ["", ".", ".."].includes(name));
  if (names.includes(wrong))
    throw new TypeError(`An id or the name of a file is needed, not ${JSON.stringify(wrong)}.`);
  return names.map((name) => `/${encodeURIComponent(name)}`).join("");
}

/**
 * The token endpoint stands beside the services: `{gateway}/{key}/{name}/{version}`; null: it is no such endpoint, but that of `platform serve`,
 * which is told no secret.
 */
export function guessTokenUrl(endpoint) {
  const parts = endpoint.split("/");
  return parts.length > 5 ? `${parts.slice(0, -3).join("/")}/token` : null;
}

/** The cursor of the next page that a `Link` header names, or null. */
export function readCursor(link) {
  const url = /<([^>]*)>[^,]*rel="?next/u.exec(link)?.[1];
  return url === undefined ? null : new URLSearchParams(url.split("?")[1] ?? "").get("cursor");
}
