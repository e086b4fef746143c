import { useEffect, useEffectEvent } from "react";
import { readStored } from "../util/storage.ts";

/** After `g`, the key that says where to has to follow within this time. */
const SEQUENCE_MS = 1_500;

interface Keys {
  readonly onPalette: () => void;
  readonly onHelp: () => void;
  /** The key behind `g`. */
  readonly onGo: (key: string) => void;
}

/** The keys of all pages. Single ones are off while something is typed, and can be switched off (WCAG 2.2, 2.1.4). */
export function useKeys(keys: Keys): void {
  const onPalette = useEffectEvent(keys.onPalette);
  const onHelp = useEffectEvent(keys.onHelp);
  const onGo = useEffectEvent(keys.onGo);
  useEffect(() => {
    let wentAt = 0;
    const listen = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        onPalette();
        return;
      }
      if (isForOthers(event)) return;
      if (event.key === "?") onHelp();
      if (event.key === "/") focusFilter(event);
      if (wentAt > 0 && Date.now() - wentAt < SEQUENCE_MS) onGo(event.key);
      else press(event.key);
      wentAt = event.key === "g" ? Date.now() : 0;
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, []);
}

/** A key that is held is pressed once: repeated, it would press what the next page has by that key, such as the start of another execution. */
function isForOthers(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement;
  return (
    event.repeat ||
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    readStored("keys") === "off" ||
    target.closest("input, textarea, select, [contenteditable=true], [role=dialog]") !== null
  );
}

/**
 * What a page does by a key says so itself, which screen readers tell as well: `aria-keyshortcuts`. Of several the last one is meant:
 * what a tab shows comes behind the tab.
 */
function press(key: string): void {
  if (!/^[a-z\d]$/u.test(key)) return;
  const found = document.querySelectorAll<HTMLElement>(`#main [aria-keyshortcuts~="${key}"]`);
  [...found].at(-1)?.click();
}

/** The filter of a list says so itself: `data-filter`. */
function focusFilter(event: KeyboardEvent): void {
  const filter = document.querySelector<HTMLInputElement>("input[data-filter]");
  if (filter === null) return;
  event.preventDefault();
  filter.focus();
}
