import type { ServicePolicy } from "@platform/contract/policy";

/** What a service limits. */
export type Limits = NonNullable<ServicePolicy["concurrency"]>;

/** Executions of one service that one round gives places to. */
const PLACES_AT_ONCE = 256;

/** An owner of executions of one service with limits. */
export interface LimitedOwner<T> {
  readonly ownerId: string;
  /** Places that are taken. */
  readonly taken: number;
  /** Those that are held, in their order. */
  readonly held: readonly T[];
}

/** What decides about the places of one service. */
export interface LimitedService<T> {
  readonly limits: Limits;
  readonly owners: readonly LimitedOwner<T>[];
  /** Who got the last place; null: unknown. */
  readonly lastTurn: string | null;
}

/** An execution that gets a place, and whose it is. */
export interface PlaceGiven<T> {
  readonly ownerId: string;
  readonly item: T;
}

/**
 * Which executions of one service get a place, in their order: the next place is of who has the fewest; of these, owners take turns. The same rule as in PostgreSQL (the platform's store/executions/limited.ts).
 */
export function choosePlaces<T>({ limits, owners, lastTurn }: LimitedService<T>): readonly PlaceGiven<T>[] {
  const { service = Infinity, subscription = Infinity } = limits;
  const places = service - owners.reduce((sum, { taken }) => sum + taken, 0);
  const most = Math.min(places, PLACES_AT_ONCE);
  if (most <= 0) return [];
  return owners
    .flatMap(({ ownerId, taken, held }) =>
      held.slice(0, Math.max(0, Math.min(subscription - taken, most))).map((item, index) => ({
        ownerId,
        item,
        turn: taken + index,
        ownerTurn: describeTurn(ownerId),
        hadTurn: hadTurn(ownerId, lastTurn),
      })),
    )
    .sort((a, b) => a.turn - b.turn || a.hadTurn - b.hadTurn || (a.ownerTurn < b.ownerTurn ? -1 : 1))
    .slice(0, most)
    .map(({ ownerId, item }) => ({ ownerId, item }));
}

function hadTurn(ownerId: string, lastTurn: string | null): number {
  return lastTurn !== null && describeTurn(ownerId) <= describeTurn(lastTurn) ? 1 : 0;
}

/** What owners take turns by. Their ids begin with the time at which they were made, so in the order of these a row of new owners would always come next. */
function describeTurn(ownerId: string): string {
  // Not `toReversed`, which Node.js 18 lacks.
  return ownerId.split("").reduceRight((text, digit) => text + digit, "");
}
