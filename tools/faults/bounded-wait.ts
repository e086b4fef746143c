const SECOND = 1_000;

/** What is waited for did not come. */
export class Overdue extends Error {
  override readonly name = "Overdue";
}

/** Rejects when it takes longer, and says what was waited for. What it waited for may go on. @throws Overdue */
export async function within<T>(what: string, limitMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Overdue(describe(what, limitMs))), limitMs);
  });
  // It may fail after nobody waits for it any more.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function describe(what: string, limitMs: number): string {
  return `waited in vain for ${what}: ${Math.round(limitMs / SECOND)} s are over`;
}
