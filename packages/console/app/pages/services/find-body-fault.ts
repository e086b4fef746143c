/** Why a text is no body of a start, before anybody is asked; null: it may be one. It is sent as it stands: numbers keep their digits. */
export function findBodyFault(text: string): string | null {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    return error instanceof Error ? error.message : "It is no JSON.";
  }
  return typeof body === "object" && body !== null && !Array.isArray(body) ? null : "It has to be an object.";
}
