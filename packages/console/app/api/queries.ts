import {
  infiniteQueryOptions,
  queryOptions,
  useMutation,
  useQuery,
  useSuspenseInfiniteQuery,
  useSuspenseQuery,
} from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { MAX_PAGE_SIZE } from "@platform/contract/limits";
import { isConflict, isRefusedForGood, isUnauthenticated } from "./explain-error.ts";
import type { AnswerOf, ItemOf, OperationId, RequestOf } from "./client.ts";
import { useScope } from "./scope.tsx";
import type { Scope } from "./scope.tsx";
import { notifyDone } from "../ui/notify.ts";

/*
 * All there is of TanStack Query. A query is an operation and its request; its key begins with the operation and the organisation, so
 * that a change names by operation what it makes stale. Loaders load (`load`), components read what was loaded (`useLoaded`), changes
 * go through `useChange`.
 */

/** A read. */
export interface Query<K extends OperationId = OperationId> {
  readonly kind: "one";
  readonly op: K;
  readonly request: RequestOf<K>;
}

/** A read of a list, page after page. */
export interface Pages<K extends OperationId = OperationId> {
  readonly kind: "pages";
  readonly op: K;
  readonly request: RequestOf<K>;
}

/** What a read has: null where the answer has no body, since undefined is what is not there yet. */
type ReadOf<K extends OperationId> =
  undefined extends AnswerOf<K> ? Exclude<AnswerOf<K>, undefined> | null : AnswerOf<K>;

/** A read of an operation: `q("getApplication", { params: { id } })`. */
export function q<K extends OperationId>(op: K, request: RequestOf<K>): Query<K> {
  return { kind: "one", op, request };
}

/** A read of a list: `pages("listApplications", {})`. */
export function pages<K extends ListOperation>(op: K, request: RequestOf<K>): Pages<K> {
  return { kind: "pages", op, request };
}

/** An operation that answers in pages. */
export type ListOperation = {
  [K in OperationId]: AnswerOf<K> extends { readonly items: readonly unknown[]; readonly nextCursor: unknown }
    ? K
    : never;
}[OperationId];

interface Page {
  readonly items: readonly unknown[];
  readonly nextCursor: string | null;
}

type AnyCall = (request: unknown) => Promise<unknown>;

/** What changes by itself is asked for again after this long, while its page is visible. */
export const REFRESH_MS = { unfinished: 2_000, list: 15_000 } as const;

async function call(scope: Scope, op: OperationId, request: unknown): Promise<unknown> {
  const send: unknown = scope.api[op];
  return (await (send as AnyCall)(request)) ?? null;
}

/** Names a read in the cache. */
function toKey(scope: Scope, { op, request }: Query): readonly unknown[] {
  return [op, scope.key, request];
}

/** The options of TanStack Query for a read. */
export function toQueryOptions<K extends OperationId>(scope: Scope, query: Query<K>) {
  const { op, request } = query;
  return queryOptions({
    queryKey: toKey(scope, query),
    queryFn: ({ signal }) => call(scope, op, { ...request, signal }) as Promise<ReadOf<K>>,
  });
}

/** The same for a list. */
function toPagesOptions<K extends OperationId>(scope: Scope, { op, request }: Pages<K>) {
  return infiniteQueryOptions({
    queryKey: [op, scope.key, request, "pages"],
    queryFn: ({ signal, pageParam }) => {
      const { query, ...rest } = request as { readonly query?: Readonly<Record<string, unknown>> };
      const cursor = pageParam === null ? {} : { cursor: pageParam };
      return call(scope, op, { ...rest, query: { ...query, ...cursor }, signal }) as Promise<Page>;
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
}

/** For loaders: what is there is shown at once and asked for again behind it. `most`: so many pages of a list, where there are as many. */
export async function load<K extends OperationId>(
  scope: Scope,
  query: Query<K> | Pages<K>,
  most = 1,
): Promise<void> {
  if (query.kind === "one")
    await scope.queries.ensureQueryData({ ...toQueryOptions(scope, query), revalidateIfStale: true });
  else
    await scope.queries.ensureInfiniteQueryData({
      ...toPagesOptions(scope, query),
      pages: most,
      revalidateIfStale: true,
    });
}

/** How often to ask again: milliseconds, or decided by what is there; false: not by itself. */
type Refresh<T> = number | false | ((data: T) => number | false);

/** What a read has, and how it failed the last time; null: it did not. */
interface ReadState<T> {
  readonly data: T | undefined;
  readonly error: Error | null;
}

/** When to ask again. What was refused for good is not asked for again by itself; a user may sign in again. */
export function toInterval<T>(
  refresh: Refresh<T> | undefined,
  { data, error }: ReadState<T>,
): number | false {
  if (isRefusedForGood(error) && !isUnauthenticated(error)) return false;
  if (typeof refresh !== "function") return refresh ?? false;
  return data === undefined ? false : refresh(data);
}

/** What the route's loader has loaded. */
export function useLoaded<K extends OperationId>(
  query: Query<K>,
  options: { readonly refresh?: Refresh<ReadOf<K>> } = {},
): ReadOf<K> {
  const scope = useScope();
  const found = useSuspenseQuery({
    ...toQueryOptions(scope, query),
    refetchInterval: ({ state }) => toInterval(options.refresh, state),
  });
  return found.data;
}

interface FetchedOptions<K extends OperationId> {
  readonly isActive?: boolean;
  readonly refresh?: Refresh<ReadOf<K>>;
  /** The routes have asked for it: not once more as it is shown, however long the page took. */
  readonly isLoaded?: boolean;
}

/** What is read when a part of a page opens, e.g. a dialog. `data`: undefined until it is there. */
export function useFetched<K extends OperationId>(
  query: Query<K>,
  options: FetchedOptions<K> = {},
): { readonly data: ReadOf<K> | undefined; readonly error: Error | null; readonly retry: () => void } {
  const scope = useScope();
  const { data, error, refetch } = useQuery({
    ...toQueryOptions(scope, query),
    enabled: options.isActive ?? true,
    refetchOnMount: options.isLoaded !== true,
    refetchInterval: ({ state }) => toInterval(options.refresh, state),
  });
  return { data, error, retry: () => void refetch() };
}

/** A list as far as it was read. */
export interface LoadedPages<Item> {
  readonly items: readonly Item[];
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  readonly loadMore: () => void;
}

/** The list that the route's loader has begun to load. */
export function useLoadedPages<K extends ListOperation>(
  query: Pages<K>,
  options: { readonly refresh?: Refresh<readonly ItemOf<K>[]> } = {},
): LoadedPages<ItemOf<K>> {
  const scope = useScope();
  const found = useSuspenseInfiniteQuery({
    ...toPagesOptions(scope, query),
    refetchInterval: ({ state: { data, error } }) =>
      toInterval(options.refresh, { data: data && (collect(data) as readonly ItemOf<K>[]), error }),
  });
  return {
    items: collect(found.data) as readonly ItemOf<K>[],
    hasMore: found.hasNextPage,
    isLoadingMore: found.isFetchingNextPage,
    loadMore: () => void found.fetchNextPage(),
  };
}

function collect(data: { readonly pages: readonly Page[] }): readonly unknown[] {
  return data.pages.flatMap(({ items }) => items);
}

/** Reads a whole list, for a file; at most this many items. `isWhole`: there are no more. */
export function useReadAll<K extends ListOperation>(
  op: K,
): (
  request: RequestOf<K>,
  most: number,
) => Promise<{ readonly items: readonly ItemOf<K>[]; readonly isWhole: boolean }> {
  const scope = useScope();
  return async (request, most) => {
    const { query, ...rest } = request as { readonly query?: Readonly<Record<string, unknown>> };
    const items: ItemOf<K>[] = [];
    let cursor: string | null = null;
    do {
      const given: unknown = await call(scope, op, {
        ...rest,
        query: { ...query, limit: MAX_PAGE_SIZE, ...(cursor === null ? {} : { cursor }) },
      });
      const page = given as Page;
      items.push(...(page.items as readonly ItemOf<K>[]));
      cursor = page.nextCursor;
    } while (cursor !== null && items.length < most);
    return { items: items.slice(0, most), isWhole: cursor === null && items.length <= most };
  };
}

/** Of what one is chosen of. */
const MOST_CHOICES = 2_000;

/** A list as a whole of which one item is chosen, read when a part of a page opens. `items`: undefined until they are there. */
export function useChoices<K extends ListOperation>(
  op: K,
): {
  readonly items: readonly ItemOf<K>[] | undefined;
  readonly error: Error | null;
  readonly retry: () => void;
} {
  const scope = useScope();
  const readAll = useReadAll(op);
  const { data, error, refetch } = useQuery({
    queryKey: [op, scope.key, "choices"],
    queryFn: () => readAll({}, MOST_CHOICES),
  });
  return { items: data?.items, error, retry: () => void refetch() };
}

/** What becomes of a change. */
interface ChangeOptions<K extends OperationId> {
  /** What is told when it is done, e.g. "Renamed."; absent: the page shows it by itself. */
  readonly done?: string;
  /** The read that answers the same from then on: it has the answer at once, also where it then cannot be asked for again. */
  readonly gives?: Query<GivenBy<K>>;
  /** The reads that it makes stale. */
  readonly refresh: readonly OperationId[];
}

/** The reads that answer what the change does. */
type GivenBy<K extends OperationId> = {
  [Read in OperationId]: [AnswerOf<K>, ReadOf<Read>] extends [ReadOf<Read>, AnswerOf<K>] ? Read : never;
}[OperationId];

/** A change: `run` sends it, and rejects where it is refused; `isRunning` until it is answered. */
export interface Change<K extends OperationId> {
  readonly run: (request: RequestOf<K>) => Promise<AnswerOf<K>>;
  readonly isRunning: boolean;
}

/** A change on its way. It is kept as long as what it was sent by is shown: in the end it is emptied, since both may have a secret. */
interface Sent<K extends OperationId> {
  request: RequestOf<K> | null;
  answer: AnswerOf<K> | null;
}

/** The only way to change something. */
export function useChange<K extends OperationId>(
  op: K,
  { done, gives, refresh }: ChangeOptions<K>,
): Change<K> {
  const scope = useScope();
  const router = useRouter();
  const mutation = useMutation({
    mutationKey: [op],
    mutationFn: async (sent: Sent<K>) => {
      sent.answer = (await call(scope, op, sent.request)) as AnswerOf<K>;
    },
    onSuccess: async (_nothing, { answer }) => {
      if (done !== undefined) notifyDone(done);
      if (gives !== undefined) scope.queries.setQueryData(toKey(scope, gives), answer);
      const reads = makeStale(scope, refresh);
      // What is seen at once is not waited for.
      if (gives === undefined) await reads;
      // The user is part of the routes' context.
      if (refresh.includes("getMe")) await router.invalidate();
    },
    // Somebody else was first: what they have made of it is shown beside what was entered.
    onError: async (error) => {
      if (isConflict(error)) await makeStale(scope, refresh);
    },
    // An error may say what was entered. Not 0: what is still on its way then would be looked at all the time.
    gcTime: 1_000,
  });
  const run = async (request: RequestOf<K>) => {
    const sent: Sent<K> = { request, answer: null };
    try {
      await mutation.mutateAsync(sent);
      return sent.answer as AnswerOf<K>;
    } finally {
      sent.request = null;
      sent.answer = null;
    }
  };
  return { run, isRunning: mutation.isPending };
}

/** Reads of these operations are asked for again: those that are shown at once, others when they are shown. */
export async function makeStale(scope: Scope, operations: readonly OperationId[]): Promise<void> {
  await Promise.all(operations.map((op) => scope.queries.invalidateQueries({ queryKey: [op] })));
}
