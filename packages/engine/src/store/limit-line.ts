/** The places of one service with limits, as one of its owners finds them. */
export interface LimitPlaces {
  /** Executions at one time; null: no limit. */
  readonly ofService: number | null;
  readonly ofOwner: number | null;
  /** Places that are taken: of the service, and of this owner. */
  readonly taken: number;
  readonly takenByOwner: number;
  /** How many of the owner are held, at most `LIMIT_SURVEY.counted`. */
  readonly held: number;
}

/** An owner's executions of one service with limits, of which some are held. */
export interface LimitLine extends LimitPlaces {
  /** The service. */
  readonly limitKey: string;
  readonly ownerId: string;
  /** Ids of those that are held, the first ones at most, in their order. */
  readonly firstIds: readonly string[];
}

/** Bounds of what a survey of limits returns: lines, ids of a line, and executions that are counted. */
export const LIMIT_SURVEY = { lines: 2_000, ids: 20, counted: 1_000 } as const;
