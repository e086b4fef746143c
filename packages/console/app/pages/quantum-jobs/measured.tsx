import { Button, Group, NativeSelect, Stack, Text } from "@mantine/core";
import { startTransition, use, useState } from "react";
import type { MeasuredCircuit } from "../../quantum/read-result.ts";
import { countOnce, listShots } from "../../quantum/read-shots.ts";
import { toCsv } from "../../util/csv.ts";
import { notifyFailure } from "../../ui/notify.ts";
import { saveText } from "../../ui/save.ts";
import { ChooseCircuit } from "./circuit-tab.tsx";
import { CountsTable } from "./counts-table.tsx";

/** Sets of parameters that can be chosen: of more, the SDK has each. */
const MOST_SETS = 1_000;

interface MeasuredProps {
  readonly circuits: readonly MeasuredCircuit[];
  readonly id: string;
}

/** What was measured of each circuit. Suspends while shots are counted. */
export function Measured({ circuits, id }: MeasuredProps) {
  const [chosen, setChosen] = useState({ index: 0, set: 0 });
  const circuit = circuits[chosen.index];
  if (circuit === undefined) return null;
  // What is shown stays until the next counts are there.
  const choose = (index: number, set: number) => startTransition(() => setChosen({ index, set }));
  return (
    <Stack>
      {(circuits.length > 1 || circuit.sets > 1) && (
        <Group align="flex-end">
          {circuits.length > 1 && (
            <ChooseCircuit
              names={circuits.map(({ name }) => name)}
              chosen={chosen.index}
              choose={(index) => choose(index, 0)}
            />
          )}
          {circuit.sets > 1 && (
            <NativeSelect
              label="Set of parameters"
              value={String(chosen.set)}
              data={Array.from({ length: Math.min(circuit.sets, MOST_SETS) }, (_, set) => ({
                value: String(set),
                label: `${set + 1} of ${circuit.sets}`,
              }))}
              onChange={({ currentTarget }) => choose(chosen.index, Number(currentTarget.value))}
            />
          )}
        </Group>
      )}
      <Outcomes circuit={circuit} set={chosen.set} id={id} />
    </Stack>
  );
}

/** A line for each shot, in their order. */
async function saveShots(circuit: MeasuredCircuit, set: number, name: string): Promise<void> {
  try {
    saveText(name, await listShots(circuit, set));
  } catch (error) {
    notifyFailure(error);
  }
}

interface OutcomesProps {
  readonly circuit: MeasuredCircuit;
  readonly set: number;
  readonly id: string;
}

function Outcomes({ circuit, set, id }: OutcomesProps) {
  const { outcomes, why } = use(countOnce(circuit, set));
  if (outcomes === null) return <Text c="dimmed">{why}</Text>;
  const names = ["outcome", circuit.isCounted ? "count" : "probability"];
  const saveCounts = () => saveText(`${id}-counts.csv`, toCsv(names, outcomes), "text/csv;charset=utf-8");
  return (
    <Stack>
      <CountsTable outcomes={outcomes} isCounted={circuit.isCounted} />
      <Group gap="xs">
        <Button variant="default" size="xs" onClick={saveCounts}>
          Download the counts
        </Button>
        {circuit.registers !== null && (
          <Button variant="default" size="xs" onClick={() => void saveShots(circuit, set, `${id}-shots.txt`)}>
            Download each shot
          </Button>
        )}
      </Group>
    </Stack>
  );
}
