import { useRouter } from "@tanstack/react-router";
import { useEffect, useState } from "react";

/**
 * A value of the URL that a field leads: what was entered is shown while the URL follows, and what the URL says as soon as anything else
 * changes it, which makes an entry of the history: Back, Forward, a link, a button. Fields replace the entry that they are in.
 */
export function useLeading<T>(value: T): readonly [shown: T, enter: (entered: T) => void] {
  const { history } = useRouter();
  const [entered, setEntered] = useState<{ readonly value: T } | null>(null);
  useEffect(
    () =>
      history.subscribe(({ action }) => {
        if (action.type !== "REPLACE") setEntered(null);
      }),
    [history],
  );
  return [entered === null ? value : entered.value, (next) => setEntered({ value: next })];
}
