import { useRouter } from "@tanstack/react-router";
import { useEffect } from "react";
import { isUnauthenticated } from "../api/explain-error.ts";
import { q, REFRESH_MS, useFetched } from "../api/queries.ts";
import { useMe } from "../api/scope.tsx";
import { hasUnsavedInput } from "../ui/unsaved.ts";

/**
 * Asks every 15 seconds whether the user is who they were, since pages that ask for nothing would be shown on. An ended session leads to the
 * sign-in page (router.ts), but where something is entered: that stays, and this says why it cannot be saved.
 */
export function SessionBar() {
  const me = useMe();
  const router = useRouter();
  const { data, error } = useFetched(q("getMe", {}), { refresh: REFRESH_MS.list, isLoaded: true });
  const hasChanged = data !== undefined && data !== me;
  useEffect(() => {
    if (!hasChanged) return undefined;
    // The user, their organisations and roles are part of the routes' context. Where something is entered, the page stays: of an organisation
    // that was renamed, there is none at its address any more.
    const follow = () => void (hasUnsavedInput() || router.invalidate());
    follow();
    const timer = setInterval(follow, REFRESH_MS.list);
    return () => clearInterval(timer);
  }, [hasChanged, router]);
  const hasEnded = isUnauthenticated(error);
  return (
    <div role="status" className={hasEnded ? "notice-bar" : undefined}>
      {hasEnded && (
        <>
          {me.name} is not signed in any more. What is entered here stays:{" "}
          <a href="/sign-in" target="_blank" rel="noreferrer">
            sign in again in another tab
          </a>
          , where another user may have to be signed out first, and go on here.
        </>
      )}
    </div>
  );
}
