/** What a chart shows of one kind. Colour is never alone: bars have a pattern of their own, lines a dash. */
export interface ChartSeries {
  readonly id: string;
  readonly label: string;
  /** A colour of the theme. */
  readonly color: string;
  /** Of bars; default: plain. */
  readonly pattern?: "stripes" | "dots";
  /** Of lines, as in `stroke-dasharray`; default: none. */
  readonly dash?: string;
}

/** What charts are filled with. */
export function toFill({ color, pattern }: ChartSeries, id: string): string {
  return pattern === undefined ? color : `url(#${id})`;
}

/** The pattern of a series, within the `<defs>` of a drawing. */
export function Pattern({ of: { color, pattern }, id }: { readonly of: ChartSeries; readonly id: string }) {
  if (pattern === undefined) return null;
  return (
    <pattern id={id} width={6} height={6} patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
      <rect width={6} height={6} fill={color} />
      {pattern === "stripes" ? (
        <rect width={2} height={6} fill="var(--mantine-color-body)" />
      ) : (
        <circle cx={3} cy={3} r={1.4} fill="var(--mantine-color-body)" />
      )}
    </pattern>
  );
}
