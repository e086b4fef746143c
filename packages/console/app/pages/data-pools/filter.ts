/** What the files of a data pool are asked for with: those with these words in their names, or all of them. */
export function toFileFilter(words: string | undefined): { readonly q?: string } {
  return words === undefined ? {} : { q: words };
}
