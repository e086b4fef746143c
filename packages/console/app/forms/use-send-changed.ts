import { RequestRefused } from "@platform/contract/client";
import { useRef } from "react";
import { notifyDone } from "../ui/notify.ts";
import { pickChanged } from "./form-values.ts";

/**
 * Sends what of a body is not as it was when its form was opened: somebody else may have changed the rest since. Where that is nothing, it is
 * told, and null is answered. After an answer that was lost nobody knows what there is: all of it is sent.
 */
export function useSendChanged(begun: Readonly<Record<string, unknown>>) {
  const wasLost = useRef(false);
  return async <Body extends object, Answer>(
    body: Body,
    send: (changed: Partial<Body>) => Promise<Answer>,
  ): Promise<Answer | null> => {
    const changed = wasLost.current ? body : pickChanged(body, begun);
    if (Object.keys(changed).length === 0) {
      notifyDone("You have changed nothing.");
      return null;
    }
    try {
      const answer = await send(changed);
      wasLost.current = false;
      return answer;
    } catch (error) {
      if (!(error instanceof RequestRefused) || error.status >= 500) wasLost.current = true;
      throw error;
    }
  };
}
