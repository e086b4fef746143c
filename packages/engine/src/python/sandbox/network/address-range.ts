/** IPv4 addresses that share their first `bits` bits with `first`. */
export interface AddressRange {
  /** As an unsigned 32-bit number. */
  readonly first: number;
  readonly bits: number;
}

/** Parses an address or a range (`10.0.0.0/8`); null for any other text. Bits after the prefix are dropped. */
export function parseRange(text: string): AddressRange | null {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?:\/(\d{1,2}))?$/.exec(text);
  if (match === null) return null;
  const [, a, b, c, d, prefix = "32"] = match;
  const octets = [a, b, c, d].map(Number);
  const bits = Number(prefix);
  if (octets.some((octet) => octet > 255) || bits > 32) return null;
  const address = octets.reduce((sum, octet) => sum * 256 + octet, 0);
  return { first: address - (address % sizeOf(bits)), bits };
}

/** Parses ranges that are known to be valid. @throws TypeError */
export function parseRanges(texts: readonly string[]): readonly AddressRange[] {
  return texts.map((text) => {
    const range = parseRange(text);
    if (range === null) throw new TypeError(`'${text}' is no IPv4 address or range`);
    return range;
  });
}

/** `10.0.0.0/8`; with `/32` for one address. */
export function formatRange({ first, bits }: AddressRange): string {
  const octets = [2 ** 24, 2 ** 16, 2 ** 8, 1].map((unit) => Math.floor(first / unit) % 256);
  return `${octets.join(".")}/${bits}`;
}

/** Whether each address of `inner` is in `outer`. */
export function containsRange(outer: AddressRange, inner: AddressRange): boolean {
  return outer.bits <= inner.bits && inner.first - (inner.first % sizeOf(outer.bits)) === outer.first;
}

function sizeOf(bits: number): number {
  return 2 ** (32 - bits);
}
