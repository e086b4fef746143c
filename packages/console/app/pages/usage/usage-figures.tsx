import { Paper, SimpleGrid, Text } from "@mantine/core";
import type { Usage } from "@platform/contract/platform-api/usage";
import { formatUsage, NUMBER_WORDS, sumUsage, USAGE_NUMBERS } from "../../usage/sum.ts";
import { formatMoney, roundMoney } from "../../util/money.ts";

interface UsageFiguresProps {
  readonly lines: readonly Usage[];
  /** Whether these are all lines of the period. */
  readonly isWhole: boolean;
}

/** Behind the point, as of times. The fee of a month by days has more; the table shows them all. */
const MOST_DIGITS = 6;

/** What all lines add up to. */
export function UsageFigures({ lines, isWhole }: UsageFiguresProps) {
  const sum = sumUsage(lines);
  const figures = [
    ...USAGE_NUMBERS.map((name) => ({ label: NUMBER_WORDS[name], value: formatUsage(sum[name]) })),
    { label: "Cost", value: formatMoney(sum.cost.map((amount) => roundMoney(amount, MOST_DIGITS))) },
  ];
  return (
    <section aria-label="Sums">
      <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="sm" mb="lg">
        {figures.map(({ label, value }) => (
          <Paper key={label} withBorder radius="md" px="md" py="sm" style={{ minWidth: 0 }}>
            <Text c="dimmed" fz="sm">
              {label}
            </Text>
            <Text fz={value.length > 9 ? 17 : 22} fw={650} lh="31px" style={{ overflowWrap: "anywhere" }}>
              {value}
            </Text>
          </Paper>
        ))}
      </SimpleGrid>
      {!isWhole && (
        <Text c="dimmed" fz="sm" mb="lg">
          These are the sums of the lines that are loaded. There are more: see the end of the table.
        </Text>
      )}
    </section>
  );
}
