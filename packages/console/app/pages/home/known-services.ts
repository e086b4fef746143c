import type { ItemOf } from "../../api/client.ts";

type Service = ItemOf<"listServices">;

/** A page of the list of services, as far as it matters here. */
interface ServicePage<One = Service> {
  readonly items: readonly One[];
  /** null: there are no more. */
  readonly nextCursor: string | null;
}

/** What the first steps ask of the services; undefined: not known yet. */
interface KnownServices<One> {
  /** One that has a live version. */
  readonly live: One | undefined;
  readonly isAnyLive: boolean | undefined;
  readonly isAnyPublished: boolean | undefined;
}

type Judged = Pick<Service, "latestVersion" | "publication">;

/** `many`: more of the same list. `published`: lists that have none but published ones. They are asked for where the newest do not say it. */
export function judgeServices<One extends Judged>(
  newest: ServicePage<One>,
  many: ServicePage<One> | undefined,
  published: readonly (ServicePage<One> | undefined)[],
): KnownServices<One> {
  const isWhole = newest.nextCursor === null;
  const find = ({ items }: ServicePage<One>) => items.find(({ latestVersion }) => latestVersion !== null);
  const live = find(newest) ?? (many && find(many));
  return {
    live,
    isAnyLive: anyOf([live !== undefined, isWhole || many !== undefined ? false : undefined]),
    isAnyPublished: anyOf([
      newest.items.some(({ publication }) => publication !== null),
      ...(isWhole ? [] : published.map((page) => page && page.items.length > 0)),
    ]),
  };
}

/** true as soon as one is, undefined while one that could be is not known. */
export function anyOf(known: readonly (boolean | undefined)[]): boolean | undefined {
  if (known.includes(true)) return true;
  return known.includes(undefined) ? undefined : false;
}
