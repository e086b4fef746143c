/** Characters of a URL of a webhook. */
export const MAX_WEBHOOK_URL = 2_000;

/** A URL that may be called: http or https, with a host, no credentials. Null for any other text; the address is judged at each call. */
export function parseWebhookUrl(text: string): URL | null {
  const url = text.length > MAX_WEBHOOK_URL ? null : parse(text);
  if (url === null) return null;
  const isPlain = url.username === "" && url.password === "" && url.hash === "";
  const isWeb = (url.protocol === "https:" || url.protocol === "http:") && url.hostname !== "";
  // Written out it can be three times as long.
  return isPlain && isWeb && url.href.length <= MAX_WEBHOOK_URL ? url : null;
}

/** Not by `URL.canParse`, which the first releases of Node.js 18 lack. */
function parse(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}
