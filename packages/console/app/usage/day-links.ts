import { KINDS } from "../execution/kinds.ts";
import { addDays } from "../util/days.ts";
import type { Side } from "./query.ts";

/** What an organisation uses itself has two kinds, each with a list of its own. */
const KINDS_OF: Readonly<Record<Side, readonly (keyof typeof KINDS)[]>> = {
  consumer: ["job", "outgoing"],
  provider: ["incoming"],
};

/** The lists of executions that the usage of a day is of, as far as they are still stored: never those of the other side. */
export function listDayLinks(day: string, side: Side) {
  return KINDS_OF[side].map((kind) => ({
    label: KINDS[kind].tab,
    search: { kind, after: `${day} 00:00:00`, before: `${addDays(day, 1)} 00:00:00` },
  }));
}
