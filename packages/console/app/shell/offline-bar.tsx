import { useSyncExternalStore } from "react";

function subscribe(changed: () => void): () => void {
  globalThis.addEventListener("online", changed);
  globalThis.addEventListener("offline", changed);
  return () => {
    globalThis.removeEventListener("online", changed);
    globalThis.removeEventListener("offline", changed);
  };
}

/** Says that the browser has no network: what is shown is as it was. */
export function OfflineBar() {
  const isOnline = useSyncExternalStore(subscribe, () => navigator.onLine);
  return (
    <div role="status" className={isOnline ? undefined : "notice-bar"}>
      {isOnline ? null : "There is no network. What you see is as it was when it was read."}
    </div>
  );
}
