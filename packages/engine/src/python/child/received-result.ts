import type { Settings } from "../port/settings.ts";
import { createFormCheck } from "./answer-texts.ts";
import { receiveContent } from "./content-receiver.ts";
import type { ContentReceiver } from "./content-receiver.ts";

/** A result that comes in parts. */
export interface ReceivedResult extends Pick<ContentReceiver, "received" | "isBehind" | "abandon"> {
  readonly push: (part: Buffer, isLast: boolean) => void;
  /** Whether all of it has come. */
  readonly isWhole: () => boolean;
}

/** @param onDrained more may be pushed */
export function receiveResult(
  results: NonNullable<Settings["results"]>,
  size: number,
  onDrained: () => void,
): ReceivedResult {
  const receiver = receiveContent(results, size, onDrained);
  const form = createFormCheck();
  let isWhole = false;
  return {
    ...receiver,
    received: receiver.received.then(async (content) => {
      if (form.isObject()) return content;
      await content.drop();
      throw new NoObject();
    }),
    push: (part, isLast) => {
      form.look(part);
      receiver.push(part);
      isWhole = isLast;
      if (isLast) receiver.end();
    },
    isWhole: () => isWhole,
  };
}

/** The runner did not write this. */
export class NoObject extends Error {}
