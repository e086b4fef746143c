const RELOADED = "platform.reloaded-at";
/** A page that reloads more often than this has another fault. */
const ONCE_MS = 60_000;

/** A part of this console that is not there any more was replaced by a newer console: the page is loaded again, with the newer one. */
export function reloadWhenReplaced(): void {
  globalThis.addEventListener("vite:preloadError", (event) => {
    // Without a network the part is missing for another reason, and the browser would show a page of its own.
    if (!navigator.onLine) return;
    try {
      const last = Number(sessionStorage.getItem(RELOADED) ?? 0);
      if (Date.now() - last < ONCE_MS) return;
      sessionStorage.setItem(RELOADED, String(Date.now()));
    } catch {
      return;
    }
    event.preventDefault();
    globalThis.location.reload();
  });
}
