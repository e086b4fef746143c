import { IconCheck, IconCopy, IconX } from "@tabler/icons-react";
import { Fragment, useEffect, useState } from "react";
import type { ReactNode } from "react";

interface CopyButtonProps {
  /** What is copied. */
  readonly text: string;
  /** What it is, for screen readers: "endpoint URL". */
  readonly what: string;
  /** Words on the button; absent: the icon alone. */
  readonly label?: string;
}

const SAID_MS = 3_000;

type Outcome = "copied" | "refused";
const ICONS = { copied: IconCheck, refused: IconX };
/** The button's own name begins with them. */
const WORDS = { copied: "Copied", refused: "Not copied:" };
const LABELS = { copied: "Copied", refused: "Not copied" };

/** Copies a text, and says for a while whether that was possible. */
export function CopyButton({ text, what, label }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  useEffect(() => {
    if (outcome === null) return undefined;
    const timer = setTimeout(() => setOutcome(null), SAID_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  const Icon = outcome === null ? IconCopy : ICONS[outcome];
  // Without a label, a check mark says enough where it went well, and a cross does not where it did not.
  const words = outcome === "refused" || (label !== undefined && outcome !== null) ? LABELS[outcome] : label;
  return (
    <button
      type="button"
      className="copy"
      aria-label={`${outcome === null ? "Copy" : WORDS[outcome]} ${what}`}
      data-outcome={outcome ?? undefined}
      data-labelled={label === undefined ? undefined : true}
      onClick={() => void copyText(text).then((isDone) => setOutcome(isDone ? "copied" : "refused"))}
    >
      <Icon size={16} aria-hidden />
      {words}
    </button>
  );
}

/** A value in monospaced letters with its button. */
export function CopyLine({ text, what }: Omit<CopyButtonProps, "label">) {
  return (
    <span className="copy-line">
      <span className="mono">{keepWords(text)}</span>
      <CopyButton text={text} what={what} />
    </span>
  );
}

/** A command with its words in one piece each: browsers would break it behind hyphens, where `--version` is no option any more. */
function keepWords(text: string): ReactNode {
  const words = text.split(" ");
  if (words.length === 1) return text;
  return words.map((word, at) => (
    // oxlint-disable-next-line react/no-array-index-key -- A word may stand there twice, and none ever moves.
    <Fragment key={at}>
      {at > 0 && " "}
      <span>{word}</span>
    </Fragment>
  ));
}

/** For people, of a text that could not be copied. */
export const NOT_COPIED = "The browser did not let this page write to the clipboard.";

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
  return copySelected(text);
}

function copySelected(text: string): boolean {
  const before = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.setAttribute("readonly", "");
  field.style.position = "fixed";
  field.style.opacity = "0";
  // In a dialog only what is within it can be selected.
  (document.querySelector("[role=dialog]") ?? document.body).append(field);
  field.select();
  const isDone = document.execCommand("copy");
  // Before the field goes: a dialog would look for a place for a focus that is nowhere.
  if (before instanceof HTMLElement) before.focus({ preventScroll: true });
  field.remove();
  return isDone;
}
