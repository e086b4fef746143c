import { isUnauthenticated } from "./explain-error.ts";
import { useChange } from "./queries.ts";
import { useScope } from "./scope.tsx";

/** Ends the session and forgets everything that was read with it; one that has ended, or is another user's by now, is forgotten by this tab alone. */
export function useSignOut() {
  const { queries } = useScope();
  const { run, isRunning } = useChange("signOut", { refresh: [] });
  const signOut = async () => {
    try {
      await run({});
    } catch (error) {
      if (!isUnauthenticated(error)) throw error;
    }
    queries.clear();
  };
  return { signOut, isRunning };
}
