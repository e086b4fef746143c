/** Names of devices in Windows, with any ending. */
const DEVICES = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/iu;
/* oxlint-disable-next-line no-control-regex -- these are what is replaced */
const FORBIDDEN = /[<>:"/\\|?*\u0000-\u001f]/gu;

/** A name that a file may have in every system: what Windows forbids becomes `_`. */
export function toSafeName(name: string): string {
  const plain = name.replace(FORBIDDEN, "_").replace(/[. ]+$/u, "_");
  return plain === "" || DEVICES.test(plain) ? `_${plain}` : plain;
}
