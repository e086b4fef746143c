/** Everything that the console keeps in the browser: no secret, and nothing that the URL or the platform should hold. */
export const STORED = {
  /** Colour scheme: `light`, `dark` or `auto`; read by public/color-scheme.js as well. */
  colorScheme: "platform.color-scheme",
  /** Slug of the organisation that was open last. */
  organisation: "platform.organisation",
  /** `utc` or `local`. */
  times: "platform.times",
  /** `off`: single keys do nothing. */
  keys: "platform.keys",
  /** Uploads that were begun and are not finished, by what tells their file (api/upload-memory.ts). */
  uploads: "platform.uploads",
} as const;

/** What is kept under a name; null: nothing, or the browser refuses. */
export function readStored(name: keyof typeof STORED): string | null {
  try {
    return localStorage.getItem(STORED[name]);
  } catch {
    return null;
  }
}

/** Keeps it if the browser lets it. */
export function store(name: keyof typeof STORED, value: string): void {
  try {
    localStorage.setItem(STORED[name], value);
  } catch {
    // Private windows of some browsers refuse: it is forgotten with the page.
  }
}

const DRAFT = "platform.draft.";

/** What was being written in this tab when its page was left or loaded again; null: nothing. Of others nothing is found: `name` has the user. */
export function readDraft(name: string): unknown {
  try {
    return JSON.parse(sessionStorage.getItem(DRAFT + name) ?? "null");
  } catch {
    return null;
  }
}

/** Keeps it until the tab is closed; undefined: there is nothing to keep any more. */
export function keepDraft(name: string, draft: unknown): void {
  try {
    if (draft === undefined) sessionStorage.removeItem(DRAFT + name);
    else sessionStorage.setItem(DRAFT + name, JSON.stringify(draft));
  } catch {
    // As above: it is forgotten with the page.
  }
}
