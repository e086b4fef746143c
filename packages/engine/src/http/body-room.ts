import { Problem } from "@platform/contract/problems";
import { MEGABYTE } from "../base/bytes.ts";

/** Bytes of large bodies that are in memory at one time. */
export interface BodyRoomLimits {
  readonly perOwner: number;
  readonly total: number;
}

const LIMITS: BodyRoomLimits = { perOwner: 64 * MEGABYTE, total: 256 * MEGABYTE };
const RETRY_AFTER = { "retry-after": "2" } as const;

/** What one request has of the room. */
export interface BodyShare {
  /** Counts bytes that have arrived. @throws Problem RATE_LIMITED, UNAVAILABLE */
  readonly take: (bytes: number) => void;
  /** Gives all of them back, once. */
  readonly close: () => void;
}

/** Counts the bytes of large bodies from their arrival until their requests were handled: who sends slowly holds no more than what has come. */
export interface BodyRoom {
  readonly open: (ownerId: string) => BodyShare;
}

/** An empty room. */
export function createBodyRoom(limits: BodyRoomLimits = LIMITS): BodyRoom {
  const held = new Map<string, number>();
  let total = 0;
  const add = (ownerId: string, bytes: number): void => {
    const sum = (held.get(ownerId) ?? 0) + bytes;
    if (sum === 0) held.delete(ownerId);
    else held.set(ownerId, sum);
    total += bytes;
  };
  return {
    open: (ownerId) => {
      let own = 0;
      let isClosed = false;
      return {
        take: (bytes) => {
          if (isClosed) return;
          if ((held.get(ownerId) ?? 0) + bytes > limits.perOwner)
            throw new Problem("RATE_LIMITED", "Too many large requests at one time. Try again in 2 s.", {
              headers: RETRY_AFTER,
            });
          if (total + bytes > limits.total)
            throw new Problem(
              "UNAVAILABLE",
              "Too many large requests at one time; nothing was accepted. Try again in 2 s.",
              { headers: RETRY_AFTER },
            );
          own += bytes;
          add(ownerId, bytes);
        },
        close: () => {
          if (isClosed) return;
          isClosed = true;
          add(ownerId, -own);
        },
      };
    },
  };
}

/**
 * Reads a whole body, counting what arrives.
 *
 * @param most bytes that are accepted
 * @throws Problem INPUT_TOO_LARGE, and those of the share
 */
export async function readCounted(
  body: AsyncIterable<Uint8Array>,
  share: BodyShare,
  most: number,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.byteLength;
    if (bytes > most) throw refuseLarger(most);
    share.take(piece.byteLength);
    pieces.push(piece);
  }
  const [only] = pieces;
  // The pieces and the whole are there together for a moment.
  return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces, bytes);
}

/** @throws never: it is the problem of a body that is larger than so many bytes */
export function refuseLarger(most: number): Problem {
  return new Problem(
    "INPUT_TOO_LARGE",
    `The body is larger than ${Math.floor(most / MEGABYTE)} MB. Send several requests, or pass large input by reference with dataRef or paramsRef.`,
  );
}
