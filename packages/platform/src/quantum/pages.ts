/** Jobs of a page, where nobody says how many. */
const DEFAULT_SIZE = 20;

/** Which page is wanted. */
interface PageQuery {
  readonly page?: number;
  readonly size?: number;
}

/** Where the page begins, and how long it is. */
export function readPage({ page = 0, size = DEFAULT_SIZE }: PageQuery): {
  readonly offset: number;
  readonly limit: number;
} {
  return { offset: page * size, limit: size };
}

/** A page as clients of quantum platforms know it. */
export function toPage<T>(content: readonly T[], total: number, query: PageQuery) {
  const { page = 0, size = DEFAULT_SIZE } = query;
  const pages = Math.ceil(total / size);
  return {
    content: [...content],
    page,
    size,
    total_elements: total,
    total_pages: pages,
    last: page + 1 >= pages,
  };
}
