import { Alert, Badge, createTheme } from "@mantine/core";
import type { CSSVariablesResolver } from "@mantine/core";
import { SteadyButton } from "./steady-button.tsx";

/*
 * Colours are those for which axe found nothing in both schemes; contrast.test.ts computes the pairs. Mantine's own dimmed, error and
 * anchor colours are too faint.
 */

/** Shades of Mantine's colours: `[name, shade]`. */
export const TOKENS = {
  light: { text: "black", body: "white", dimmed: ["gray", 7], error: ["red", 9], anchor: ["indigo", 8] },
  dark: {
    text: ["dark", 0],
    body: ["dark", 7],
    dimmed: ["dark", 1],
    error: ["red", 4],
    anchor: ["indigo", 3],
  },
} as const;

/** Colours of the dots before states: never alone, a word stands beside each. */
export const STATE_COLORS = {
  PENDING: { light: ["gray", 6], dark: ["gray", 5] },
  RUNNING: { light: ["blue", 7], dark: ["blue", 4] },
  SUCCEEDED: { light: ["teal", 8], dark: ["teal", 4] },
  FAILED: { light: ["red", 7], dark: ["red", 5] },
  UNKNOWN: { light: ["orange", 8], dark: ["orange", 4] },
} as const;

type Token = "black" | "white" | readonly [name: string, shade: number];

const toVariable = (token: Token): string =>
  typeof token === "string"
    ? `var(--mantine-color-${token})`
    : `var(--mantine-color-${token[0]}-${token[1]})`;

function describeScheme(scheme: "light" | "dark"): Record<string, string> {
  const { dimmed, error, anchor } = TOKENS[scheme];
  const states = Object.entries(STATE_COLORS).map(([state, colors]) => [
    `--platform-state-${state.toLowerCase()}`,
    toVariable(colors[scheme]),
  ]);
  return {
    "--mantine-color-dimmed": toVariable(dimmed),
    "--mantine-color-error": toVariable(error),
    "--mantine-color-anchor": toVariable(anchor),
    "--mantine-color-placeholder": toVariable(dimmed),
    ...Object.fromEntries(states),
  };
}

/** For MantineProvider. */
export const resolveVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: describeScheme("light"),
  dark: describeScheme("dark"),
});

/** For MantineProvider. */
export const theme = createTheme({
  primaryColor: "indigo",
  primaryShade: 8,
  autoContrast: true,
  defaultRadius: "sm",
  respectReducedMotion: true,
  cursorType: "pointer",
  fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif",
  fontFamilyMonospace: "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace",
  headings: { fontWeight: "650" },
  components: {
    // Its own title is in the colour of its background, and its message brighter than the title.
    Alert: Alert.extend({
      styles: {
        title: { color: "var(--mantine-color-text)" },
        message: { color: "var(--mantine-color-text)" },
      },
    }),
    Badge: Badge.extend({ defaultProps: { variant: "default", radius: "sm", tt: "none", fw: 500 } }),
    Button: { defaultProps: { size: "sm", component: SteadyButton } },
    // The first item gets the focus: a placeholder within role=menu is none of its items.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
  },
});
