import { Paper, SimpleGrid, Text } from "@mantine/core";
import type { Usage } from "@platform/contract/platform-api/usage";
import {
  formatRoundedUsage,
  formatUsage,
  NUMBER_WORDS,
  ROUNDED_DIGITS,
  sumUsage,
  USAGE_NUMBERS,
} from "../../usage/sum.ts";
import { formatMoney, formatRoundedMoney } from "../../util/money.ts";

interface UsageFiguresProps {
  readonly lines: readonly Usage[];
  /** Whether these are all lines of the period. */
  readonly isWhole: boolean;
}

/** Letters of a figure that fit into half of a narrow screen at the larger size. */
const FEW_LETTERS = 9;

/** What all lines add up to. */
export function UsageFigures({ lines, isWhole }: UsageFiguresProps) {
  const sum = sumUsage(lines);
  const figures = [
    ...USAGE_NUMBERS.map((name) => ({
      label: NUMBER_WORDS[name],
      value: formatRoundedUsage(sum[name]),
      exact: formatUsage(sum[name]),
    })),
    { label: "Cost", value: formatRoundedMoney(sum.cost, ROUNDED_DIGITS), exact: formatMoney(sum.cost) },
  ];
  const isRounded = figures.some(({ value, exact }) => value !== exact);
  // All in one size: a smaller one would be read as less important.
  const size = figures.every(({ value }) => value.length <= FEW_LETTERS) ? 22 : 17;
  return (
    <section aria-label="Sums">
      <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="sm" mb={isRounded ? "xs" : "lg"}>
        {figures.map(({ label, value, exact }) => (
          <Paper key={label} withBorder radius="md" px="md" py="sm" style={{ minWidth: 0 }}>
            <Text c="dimmed" fz="sm">
              {label}
            </Text>
            <Text
              fz={size}
              fw={650}
              lh="31px"
              style={{ overflowWrap: "anywhere" }}
              title={value === exact ? undefined : exact}
            >
              {value}
            </Text>
          </Paper>
        ))}
      </SimpleGrid>
      {isRounded && (
        <Text c="dimmed" fz="sm" mb="lg">
          Rounded to hundredths: the table below has all digits.
        </Text>
      )}
      {!isWhole && (
        <Text c="dimmed" fz="sm" mb="lg">
          These are the sums of the lines that are loaded. There are more: see the end of the table.
        </Text>
      )}
    </section>
  );
}
