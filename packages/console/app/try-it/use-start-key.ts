import { useRef } from "react";
import { RequestRefused } from "@platform/contract/client";
import { createKey } from "../util/keys.ts";

/** Sends a start with the `Idempotency-Key` that it is given. */
type Send<T> = (idempotencyKey: string) => Promise<T>;

/**
 * Each start has a key of its own; what was sent and never answered is the same start when it is sent again.
 *
 * @returns sends the start of a JSON text; rejects as it does
 */
export function useStartKey(): <T>(text: string, send: Send<T>) => Promise<T> {
  const unanswered = useRef<{ readonly text: string; readonly key: string } | null>(null);
  return async (text, send) => {
    const sent = unanswered.current?.text === text ? unanswered.current : { text, key: createKey() };
    unanswered.current = sent;
    try {
      const answer = await send(sent.key);
      unanswered.current = null;
      return answer;
    } catch (error) {
      // Of a failure of the server it is not known whether it has started something.
      if (error instanceof RequestRefused && error.status < 500) unanswered.current = null;
      throw error;
    }
  };
}
