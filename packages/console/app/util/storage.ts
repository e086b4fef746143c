/** Everything that the console keeps in `localStorage`: no secret, and nothing that the URL or the platform should hold. */
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
/** The drafts of this page as it was loaded: some browsers refuse to keep them for longer. */
const drafts = new Map<string, unknown>();
const followers = new Set<() => void>();

/** What was being written in this tab when its page was left or loaded again, the same until another one is kept; null: nothing. Of others nothing is found: `name` has the user. */
export function readDraft(name: string): unknown {
  if (!drafts.has(name)) drafts.set(name, readKept(name));
  return drafts.get(name);
}

function readKept(name: string): unknown {
  try {
    return JSON.parse(sessionStorage.getItem(DRAFT + name) ?? "null");
  } catch {
    return null;
  }
}

/** Keeps it until the tab is closed; null: there is nothing to keep any more. */
export function keepDraft(name: string, draft: unknown): void {
  drafts.set(name, draft);
  for (const tell of followers) tell();
  try {
    // First, so that an older one is not found where there is no place for this one.
    sessionStorage.removeItem(DRAFT + name);
    if (draft !== null) sessionStorage.setItem(DRAFT + name, JSON.stringify(draft));
  } catch {
    // As above: it is forgotten with the page.
  }
}

/** Calls `tell` whenever a draft is kept or given up, until what is returned is called. */
export function followDrafts(tell: () => void): () => void {
  followers.add(tell);
  return () => void followers.delete(tell);
}
