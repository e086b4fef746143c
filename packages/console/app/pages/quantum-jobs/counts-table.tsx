import { Button, Group, SegmentedControl, Text } from "@mantine/core";
import { useState } from "react";
import type { Outcome } from "../../quantum/read-result.ts";
import { chooseOutcomes, describeShare } from "../../quantum/choose-outcomes.ts";
import { formatCount } from "../../util/units.ts";
import "./counts-table.css";

/** Outcomes that are shown at first, and those that can be. */
const FEW = 16;
const MOST = 512;

type Order = "count" | "bits";

/** The histogram of a circuit: a table whose rows have bars, so that screen readers are told the numbers and nothing is hidden in a picture. */
export function CountsTable({ outcomes }: { readonly outcomes: readonly Outcome[] }) {
  const [order, setOrder] = useState<Order>("count");
  const [most, setMost] = useState(FEW);
  const { shown, rest, total, largest } = chooseOutcomes(outcomes, order, most);
  const isCounted = outcomes.every(([, count]) => Number.isInteger(count));
  const toNumber = (count: number) => (isCounted ? formatCount(count) : count.toPrecision(3));
  const words = `${formatCount(outcomes.length)} ${outcomes.length === 1 ? "outcome" : "outcomes"}`;
  return (
    <div>
      <Group justify="space-between" mb="xs" gap="xs">
        <Text fw={600} fz="sm">
          {isCounted ? `${words} of ${formatCount(total)} shots` : words}
        </Text>
        {outcomes.length > 1 && (
          <SegmentedControl
            size="xs"
            aria-label="Order"
            value={order}
            onChange={(value) => setOrder(value as Order)}
            data={[
              { value: "count", label: "Most frequent first" },
              { value: "bits", label: "By outcome" },
            ]}
          />
        )}
      </Group>
      <table className="counts">
        <caption className="counts-caption">
          How often each outcome was measured. The last bit of an outcome is the first one of its register.
        </caption>
        <thead>
          <tr>
            <th scope="col">Outcome</th>
            <th scope="col" className="counts-number">
              {isCounted ? "Count" : "Probability"}
            </th>
            <th scope="col" className="counts-number">
              Share
            </th>
            <th scope="col" className="counts-bar-column">
              <span className="counts-hidden">Bar</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.map(([bits, count]) => (
            <tr key={bits}>
              <th scope="row" className="mono">
                {bits}
              </th>
              <td className="counts-number">{toNumber(count)}</td>
              <td className="counts-number">{describeShare(count, total)}</td>
              <td aria-hidden>
                <Bar share={largest === 0 ? 0 : count / largest} />
              </td>
            </tr>
          ))}
          {rest.outcomes > 0 && (
            <tr className="counts-rest">
              <th scope="row">
                {formatCount(rest.outcomes)} {rest.outcomes === 1 ? "other" : "others"}
              </th>
              <td className="counts-number">{toNumber(rest.count)}</td>
              <td className="counts-number">{describeShare(rest.count, total)}</td>
              <td aria-hidden>
                <Bar share={largest === 0 ? 0 : Math.min(1, rest.count / largest)} isRest />
              </td>
            </tr>
          )}
        </tbody>
      </table>
      {rest.outcomes > 0 && most < MOST && (
        <Button mt="xs" size="xs" variant="default" onClick={() => setMost(MOST)}>
          Show {outcomes.length > MOST ? `${formatCount(MOST)} outcomes` : "all outcomes"}
        </Button>
      )}
    </div>
  );
}

function Bar({ share, isRest = false }: { readonly share: number; readonly isRest?: boolean }) {
  return (
    <svg
      className="counts-bar"
      viewBox="0 0 100 10"
      preserveAspectRatio="none"
      data-rest={isRest || undefined}
    >
      <rect width={Math.max(0.5, share * 100)} height={10} />
    </svg>
  );
}
