import type { ContentName, StoredFile } from "../content/result-store.ts";
import type { PinnedInputs } from "../python/port/runtime.ts";

/** What identifies the content of an execution; hashes are SHA-256 in hex. */
export interface ExecutionDigests {
  /** The body as received, and what its references named; null: it is not stored any more. */
  readonly input: (ContentName & { readonly references: PinnedInputs }) | null;
  /** The bytes of the result; null: not SUCCEEDED, or expired. */
  readonly result: ContentName | null;
  readonly files: readonly StoredFile[];
  /** Of a result; null: there is none. */
  readonly metadata: Uint8Array | null;
}
