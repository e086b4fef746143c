import type { ExecutionRecord } from "./execution-store.ts";

/** A change in the store. Events only make things faster; correctness does not depend on them, since they can be lost. */
export type StoreEvent =
  | { readonly type: "pending" }
  /** An execution is held: a round may be due earlier. */
  | { readonly type: "held" }
  /** The record is present when the change was made in this process. */
  | { readonly type: "changed"; readonly id: string; readonly record?: ExecutionRecord }
  | { readonly type: "cancel"; readonly id: string }
  /** What a run has reported was stored. Its state is as before. */
  | { readonly type: "progress"; readonly id: string }
  /** Lines were added to the log, in this process. */
  | { readonly type: "log"; readonly id: string }
  /** Events may have been lost: drop cached values and read again. */
  | { readonly type: "reset" };
