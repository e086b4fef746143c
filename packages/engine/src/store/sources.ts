import type { FileReference } from "@platform/contract/execution";
import type { InputPin, PoolFilePin, RunnableVersion } from "../python/port/runtime.ts";
import type { Owner } from "./owner.ts";

/** Provides a worker with the code of versions. */
export interface VersionSource {
  /**
   * Unpacked and with its environment built.
   *
   * @param signal ends the wait; the preparation is stopped when its last caller stops waiting
   * @throws ProjectError when the project is invalid; an Error with a ProjectError as its cause when an accepted version can no longer be
   * prepared; any other error is one of the platform
   */
  readonly prepare: (versionId: string, signal: AbortSignal) => Promise<RunnableVersion>;
}

/** Provides input that is passed by reference. */
export interface InputSource {
  /**
   * At the start: finds what the reference names.
   *
   * @throws Problem DATA_REFERENCE_INVALID when the owner may not read the file, or it has no JSON object there; UNAVAILABLE
   */
  readonly pin: (reference: FileReference, owner: Owner) => Promise<InputPin>;
  /**
   * At the run: puts the content at this path, where nothing is, as a file of its own or as a hard link to one that never changes (see
   * `stageInputs` of PythonRuntime). `gone`: it no longer exists as it was.
   *
   * @throws Problem UNAVAILABLE when that cannot be determined now; other errors when the file cannot be made on this machine
   */
  readonly place: (pin: Pick<InputPin, "fileId" | "sha256">, path: string) => Promise<"placed" | "gone">;
  /**
   * At the start: finds the files of data pools, in the order of the ids. All of one moment, and together no more than a start may have.
   *
   * @throws Problem DATA_REFERENCE_INVALID when the owner may not read one of them, or they have too much; UNAVAILABLE
   */
  readonly pinPools: (
    dataPoolIds: readonly string[],
    owner: Owner,
  ) => Promise<readonly (readonly PoolFilePin[])[]>;
}
