import { DEFAULT_THEME } from "@mantine/core";
import { expect, test } from "vitest";
import { STATE_COLORS, TOKENS } from "./theme.ts";

/** Contrast as WCAG 2.2 defines it: text 4.5, dots and borders 3. */
function contrast(one: string, other: string): number {
  const [lighter = 0, darker = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function toHex(token: "black" | "white" | readonly [name: string, shade: number]): string {
  if (token === "white") return "#ffffff";
  if (token === "black") return "#000000";
  const color = DEFAULT_THEME.colors[token[0]]?.[token[1]];
  if (color === undefined) throw new Error(`no colour ${token.join("-")}`);
  return color;
}

test("the formula gives the numbers of the standard", () => {
  expect(contrast("#000000", "#ffffff")).toBeCloseTo(21);
  expect(contrast("#767676", "#ffffff")).toBeCloseTo(4.54, 1);
});

const SCHEMES = ["light", "dark"] as const;
/** Bodies of cards and of hovered rows besides the page's. */
const BACKGROUNDS = {
  light: ["#ffffff", DEFAULT_THEME.colors["gray"]?.[0] ?? ""],
  dark: [toHex(["dark", 7]), toHex(["dark", 6])],
} as const;
const TEXTS = ["text", "dimmed", "error", "anchor"] as const;

test.each(
  SCHEMES.flatMap((scheme) =>
    TEXTS.flatMap((text) => BACKGROUNDS[scheme].map((background) => ({ scheme, text, background }))),
  ),
)("$text is read on $background in the $scheme scheme", ({ scheme, text, background }) => {
  expect(contrast(toHex(TOKENS[scheme][text]), background)).toBeGreaterThanOrEqual(4.5);
});

test.each(
  SCHEMES.flatMap((scheme) =>
    Object.entries(STATE_COLORS).map(([state, colors]) => ({ scheme, state, color: colors[scheme] })),
  ),
)("the dot of $state is seen in the $scheme scheme", ({ scheme, color }) => {
  for (const background of BACKGROUNDS[scheme])
    expect(contrast(toHex(color), background)).toBeGreaterThanOrEqual(3);
});

test("text on a filled button is read", () => {
  expect(contrast("#ffffff", toHex(["indigo", 8]))).toBeGreaterThanOrEqual(4.5);
});
