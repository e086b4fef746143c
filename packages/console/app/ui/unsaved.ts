/** What is shown that would be lost with its page: forms in which something is entered that is neither saved nor kept, secrets that are shown once. */
const parts = new Set<() => boolean>();

/** To be asked until what is returned is called. */
export function noteUnsaved(isUnsaved: () => boolean): () => void {
  parts.add(isUnsaved);
  return () => void parts.delete(isUnsaved);
}

/** Whether something would be lost if the page went away. */
export function hasUnsavedInput(): boolean {
  return [...parts].some((isUnsaved) => isUnsaved());
}
