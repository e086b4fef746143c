import { Button, Group, SegmentedControl, Text } from "@mantine/core";
import { useState } from "react";
import { chooseOutcomes, describeShare } from "../../quantum/choose-outcomes.ts";
import type { ChosenOutcomes } from "../../quantum/choose-outcomes.ts";
import type { Outcome } from "../../quantum/read-result.ts";
import { formatCount } from "../../util/units.ts";
import "./counts-table.css";

/** Outcomes that are shown at first, and those that can be. */
const FEW = 16;
const MOST = 512;

type Order = "count" | "bits";

interface CountsTableProps {
  readonly outcomes: readonly Outcome[];
  /** false: they have probabilities. */
  readonly isCounted: boolean;
}

/** The histogram of a circuit: a table whose rows have bars, so that screen readers are told the numbers and nothing is hidden in a picture. */
export function CountsTable({ outcomes, isCounted }: CountsTableProps) {
  const [order, setOrder] = useState<Order>("count");
  const [most, setMost] = useState(FEW);
  const chosen = chooseOutcomes(outcomes, order, most);
  const words = `${formatCount(outcomes.length)} ${outcomes.length === 1 ? "outcome" : "outcomes"}`;
  return (
    <div>
      <Group justify="space-between" mb="xs" gap="xs">
        <Text fw={600} fz="sm">
          {isCounted ? `${words} of ${formatCount(chosen.total)} shots` : words}
        </Text>
        {outcomes.length > 1 && <ChooseOrder order={order} choose={setOrder} />}
      </Group>
      <Rows of={chosen} isCounted={isCounted} />
      {chosen.rest.outcomes > 0 && most < MOST && (
        <Button mt="xs" size="xs" variant="default" onClick={() => setMost(MOST)}>
          Show {outcomes.length > MOST ? `${formatCount(MOST)} outcomes` : "all outcomes"}
        </Button>
      )}
    </div>
  );
}

function ChooseOrder({ order, choose }: { readonly order: Order; readonly choose: (order: Order) => void }) {
  return (
    <SegmentedControl
      size="xs"
      aria-label="Order"
      value={order}
      onChange={choose}
      data={[
        { value: "count", label: "Most frequent first" },
        { value: "bits", label: "By outcome" },
      ]}
    />
  );
}

interface RowsProps {
  readonly of: ChosenOutcomes;
  readonly isCounted: boolean;
}

function Rows({ of: { shown, rest, total, largest }, isCounted }: RowsProps) {
  const toCells = (count: number, isRest = false) => (
    <>
      <td className="counts-number">{isCounted ? formatCount(count) : count.toPrecision(3)}</td>
      <td className="counts-number">{describeShare(count, total)}</td>
      {/* Bars are as long as the most frequent outcome's: what many have together would be longer. */}
      <td aria-hidden>{!isRest && <Bar share={largest === 0 ? 0 : count / largest} />}</td>
    </>
  );
  return (
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
          <td className="counts-bar-column" aria-hidden />
        </tr>
      </thead>
      <tbody>
        {shown.map(([bits, count]) => (
          <tr key={bits}>
            <th scope="row" className="mono">
              {bits}
            </th>
            {toCells(count)}
          </tr>
        ))}
        {rest.outcomes > 0 && (
          <tr className="counts-rest">
            <th scope="row">
              {formatCount(rest.outcomes)} {rest.outcomes === 1 ? "other" : "others"}
            </th>
            {toCells(rest.count, true)}
          </tr>
        )}
      </tbody>
    </table>
  );
}

function Bar({ share }: { readonly share: number }) {
  return (
    <svg className="counts-bar" viewBox="0 0 100 10" preserveAspectRatio="none">
      <rect width={Math.max(0.5, share * 100)} height={10} />
    </svg>
  );
}
