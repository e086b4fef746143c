/** Which bytes of a content; `end` is the first one behind them. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}
