const PAGE_SIZE = 100;

interface ListPage<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

/** Reads all pages of a list of the platform API and returns the items in their order. */
export async function readAllPages<T>(
  readPage: (query: { limit: number; cursor?: string }) => Promise<ListPage<T>>,
): Promise<readonly T[]> {
  const items: T[] = [];
  let cursor: string | null = null;
  do {
    const page: ListPage<T> = await readPage({ limit: PAGE_SIZE, ...(cursor === null ? {} : { cursor }) });
    items.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return items;
}
