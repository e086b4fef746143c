import { Readable } from "node:stream";
import { Problem } from "@platform/contract/problems";
import { readUntil } from "@platform/engine/base/read-until";
import type { Objects, ReceivedObject } from "../objects/object-store.ts";
import { LEAST_PACE, watchPace } from "../pools/part-pace.ts";
import type { PartPace } from "../pools/part-pace.ts";

/** What uploads in one request are received with. */
export interface ReceiveUploadDeps {
  readonly objects: Pick<Objects, "receive">;
  /** How slowly they may come; as slowly as parts of uploads that can be resumed unless it is given. */
  readonly uploadPace?: PartPace;
}

/**
 * Receives the body of a request that has a place in an upload gate: who sends too slowly loses it. The body stays open.
 *
 * @throws ObjectTooLarge, StoreFull, Problem UNAVAILABLE of a slow sender, the failure of the body
 */
export async function receiveUpload(
  { objects, uploadPace = LEAST_PACE }: ReceiveUploadDeps,
  body: Readable,
  limit: number,
): Promise<ReceivedObject> {
  const ending = new AbortController();
  const content = Readable.from(readAtPace(body, uploadPace, ending.signal), { highWaterMark: 1 });
  try {
    return await objects.receive(content, limit);
  } finally {
    content.destroy();
    ending.abort();
  }
}

async function* readAtPace(body: Readable, pace: PartPace, signal: AbortSignal) {
  const watch = watchPace(pace, refuseSlow);
  try {
    watch.wait();
    for await (const chunk of readUntil(body, AbortSignal.any([signal, watch.signal]))) {
      if (!(chunk instanceof Uint8Array)) throw new TypeError("An upload is made of bytes.");
      watch.came(chunk.length);
      yield chunk;
      watch.wait();
    }
  } finally {
    watch.close();
  }
}

function refuseSlow(bytesPerSecond: number): Problem {
  return new Problem(
    "UNAVAILABLE",
    `The body came more slowly than ${bytesPerSecond} bytes a second; send it again over a faster connection. Files of data pools can also be uploaded in parts (/api/uploads).`,
    { headers: { "retry-after": "1" } },
  );
}
