import { useEffect } from "react";

/**
 * What has opened a dialog gets the focus back also where the dialog leaves the page together with what it is of: the kit gives it back
 * only where a dialog stays, and is closed.
 */
export function useFocusBack(isOpen: boolean): void {
  useEffect(() => {
    if (!isOpen) return undefined;
    const opener = document.activeElement;
    return () => {
      // The kit's own way comes first where it has one.
      setTimeout(() => {
        if (isNowhere() && opener instanceof HTMLElement) opener.focus({ preventScroll: true });
      }, KIT_MS);
    };
  }, [isOpen]);
}

/** The kit waits for 10 ms. */
const KIT_MS = 20;

/**
 * A ref of a dialog's content. Where a step of it gives way to the next one, what had the focus is gone: the field that the next step
 * begins with gets it, also where that step is still loading. The kit looks for one only when a dialog opens, and does not hold a focus
 * that is nowhere within the dialog.
 */
export function keepFocusWithin(content: HTMLElement | null): (() => void) | undefined {
  if (content === null) return undefined;
  let meanwhile: Element | null = null;
  const observer = new MutationObserver(() => {
    if (!isNowhere() && document.activeElement !== meanwhile) return;
    const wanted = content.querySelector<HTMLElement>("[data-autofocus]");
    if (wanted === null && !isNowhere()) return;
    (wanted ?? findFirst(content))?.focus();
    meanwhile = wanted === null ? document.activeElement : null;
  });
  observer.observe(content, { childList: true, subtree: true });
  return () => observer.disconnect();
}

const isNowhere = () => document.activeElement === null || document.activeElement === document.body;

const findFirst = (content: HTMLElement) =>
  content.querySelector<HTMLElement>(":is(input, select, textarea, button):not(:disabled), a[href]");
