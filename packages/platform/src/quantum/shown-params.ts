/** Of all options together: lists have thousands of jobs, and each process keeps those of jobs that are asked for. */
const MOST_BYTES = 2_048;
/** Of one. */
const MOST_MEMBER_BYTES = 512;

/**
 * The options that a job shows. In the place of one that is large, such as the noise of a device, stands how large it is, as text; and those beyond
 * MOST_BYTES are not shown. The backend gets all of them as they were sent.
 */
export function toShownParams(params: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  let left = MOST_BYTES;
  const shown: [string, unknown][] = [];
  for (const [name, value] of Object.entries(params)) {
    const bytes = measure(value);
    const member = [name, bytes > MOST_MEMBER_BYTES ? `(${bytes} bytes)` : value] as const;
    left -= measure(member);
    if (left < 0) break;
    shown.push([...member]);
  }
  return Object.fromEntries(shown);
}

function measure(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
