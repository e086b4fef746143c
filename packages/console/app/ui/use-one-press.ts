import { useRef, useState } from "react";
import { notifyFailure } from "./notify.ts";

interface OnePress {
  readonly isRunning: boolean;
  readonly press: () => void;
}

/** What a button does, once where it is pressed twice before that has ended; a failure is a message. */
export function useOnePress(work: () => Promise<unknown>): OnePress {
  const [isRunning, setIsRunning] = useState(false);
  const isBusy = useRef(false);
  const press = () => {
    if (isBusy.current) return;
    isBusy.current = true;
    setIsRunning(true);
    work()
      .catch(notifyFailure)
      .finally(() => {
        isBusy.current = false;
        setIsRunning(false);
      });
  };
  return { isRunning, press };
}
