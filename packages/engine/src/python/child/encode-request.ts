import { join } from "node:path";
import { GIGABYTE } from "../../base/bytes.ts";
import { INPUT_NAMES } from "../port/runtime.ts";
import type { ExecutionInput, RunRequest } from "../port/runtime.ts";
import type { FileLimits } from "../port/settings.ts";
import { FRAME, encodeFrame, encodeHeader } from "../wire/frames.ts";

/** The folder for the inputs of a zygote's executions, as the host names it and as the sandbox does. */
export interface InputPlace {
  readonly outside: string;
  readonly inside: string;
}

/** Input by reference as a request names it: files of `folder` with offset and length; `InputFiles` in `messages.py`. */
interface RequestInputs extends Readonly<
  Partial<Record<(typeof INPUT_NAMES)[number], readonly [number, number]>>
> {
  readonly folder: string;
  /** Left out where there are none. Names and sizes of the files. */
  readonly pools?: readonly {
    readonly path: readonly string[];
    readonly id: string;
    readonly files: readonly (readonly [string, number])[];
  }[];
}

/** What is not said by the request itself. */
interface RequestOptions {
  readonly resultBytes: number;
  readonly linger: boolean;
  readonly inputs: RequestInputs | undefined;
  /** What may be in OUTPUT_DIRECTORY; undefined: files are not returned. */
  readonly files: FileLimits | undefined;
  /** Null: the sandbox has none, and the execution gets no access to what is behind. */
  readonly door: string | null;
}

/** Moves the files of an execution to where its child can open them. @throws the system's error */
export function bringIn(
  referred: ExecutionInput["referred"],
  place: InputPlace | null,
): RequestInputs | undefined {
  if (referred === undefined) return undefined;
  const { files, pins } = referred;
  if (place === null) throw new Error("There is no folder for inputs.");
  const parts = INPUT_NAMES.flatMap((name) => {
    const bytes = files.bytes[name];
    if (bytes === undefined) return [];
    const { start, end } = pins[name]?.range ?? { start: 0, end: bytes };
    return [[name, [start, end - start]] as const];
  });
  const pools = pins.pools?.map((pool) => ({
    path: pool.path,
    id: pool.dataPoolId,
    files: pool.files.map(({ name, bytes }) => [name, bytes] as const),
  }));
  return {
    folder: join(place.inside, files.moveTo(place.outside)),
    ...Object.fromEntries(parts),
    ...(pools === undefined ? {} : { pools }),
  };
}

/** The frames that start an execution in a child: the body is passed on as received, without a copy. */
export function encodeRequest(request: RunRequest, options: RequestOptions): readonly Uint8Array[] {
  const memory = Math.round(request.version.resources.memory * GIGABYTE);
  const { executionId, attempt: number = 1, outputPool: pool, trace, external: begun } = request;
  const attempt = number > 1 ? number : undefined;
  const outputPool = pool && { path: pool.path, id: pool.dataPoolId };
  const { resultBytes, linger, inputs, files, door } = options;
  const quantum = request.quantum === undefined || door === null ? undefined : { ...request.quantum, door };
  const external = begun && { handle: begun.handle, wasLost: begun.wasLost };
  const { body } = request.input;
  return [
    // `attempt`, `inputs`, `files`, `outputPool`, `trace`, `quantum` and `external` are left out where they are undefined.
    encodeFrame(
      FRAME.request,
      Buffer.from(
        JSON.stringify({
          executionId,
          attempt,
          resultBytes,
          memory,
          linger,
          inputs,
          files,
          outputPool,
          trace,
          quantum,
          external,
        }),
      ),
    ),
    encodeHeader(FRAME.body, body.byteLength),
    body,
    encodeFrame(FRAME.start),
  ];
}
