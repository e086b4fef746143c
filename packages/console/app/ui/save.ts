/** Saves what the browser has as a file of the user. */
export function saveBlob(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  saveLink(name, url);
  URL.revokeObjectURL(url);
}

/** Saves what an address of the own origin answers, without holding it. The name is that of the answer, if it has one. */
export function saveLink(name: string, url: string): void {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
}

/** Saves a text as a file of the user. */
export function saveText(name: string, text: string, type = "text/plain"): void {
  saveBlob(name, new Blob([text], { type }));
}
