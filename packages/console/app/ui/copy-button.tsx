import { IconCheck, IconCopy } from "@tabler/icons-react";
import { useEffect, useState } from "react";

interface CopyButtonProps {
  /** What is copied. */
  readonly text: string;
  /** What it is, for screen readers: "endpoint URL". */
  readonly what: string;
  /** Words on the button; absent: the icon alone. */
  readonly label?: string;
}

const SAID_MS = 3_000;

/** Copies a text. */
export function CopyButton({ text, what, label }: CopyButtonProps) {
  const [isCopied, setIsCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setIsCopied(false), SAID_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const Icon = isCopied ? IconCheck : IconCopy;
  return (
    <button
      type="button"
      className="copy"
      aria-label={isCopied ? `Copied ${what}` : `Copy ${what}`}
      data-copied={isCopied || undefined}
      data-labelled={label === undefined ? undefined : true}
      onClick={() => void copyText(text).then(setIsCopied)}
    >
      <Icon size={16} aria-hidden />
      {label !== undefined && (isCopied ? "Copied" : label)}
    </button>
  );
}

/** A value in monospaced letters with its button. */
export function CopyLine({ text, what }: Omit<CopyButtonProps, "label">) {
  return (
    <span className="copy-line">
      <span className="mono">{text}</span>
      <CopyButton text={text} what={what} />
    </span>
  );
}

/** Whether it is in the clipboard now. On plain http beside loopback there is no clipboard API: a selected field is copied from. */
export async function copyText(text: string): Promise<boolean> {
  const clipboard = navigator.clipboard as Clipboard | undefined;
  try {
    if (clipboard !== undefined) {
      await clipboard.writeText(text);
      return true;
    }
  } catch {
    // The browser refuses, e.g. since the window has no focus.
  }
  const field = document.createElement("textarea");
  field.value = text;
  field.setAttribute("readonly", "");
  field.style.position = "fixed";
  field.style.opacity = "0";
  // In a dialog only what is within it can be selected.
  (document.querySelector("[role=dialog]") ?? document.body).append(field);
  field.select();
  const isDone = document.execCommand("copy");
  field.remove();
  return isDone;
}
