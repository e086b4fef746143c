/** The nonce of this response of the server: style elements of libraries need it (Content-Security-Policy). */
export function readNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";
}
