/** Characters of a URL of a webhook. */
export const MAX_WEBHOOK_URL = 2_000;

/** A URL that may be called: http or https, with a host, no credentials. Null for any other text; the address is judged at each call. */
export function parseWebhookUrl(text: string): URL | null {
  if (text.length > MAX_WEBHOOK_URL || !URL.canParse(text)) return null;
  const url = new URL(text);
  const isPlain = url.username === "" && url.password === "" && url.hash === "";
  const isWeb = (url.protocol === "https:" || url.protocol === "http:") && url.hostname !== "";
  // Written out it can be three times as long.
  return isPlain && isWeb && url.href.length <= MAX_WEBHOOK_URL ? url : null;
}
