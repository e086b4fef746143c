import { Button, Group, NativeSelect, Skeleton, Stack, Text } from "@mantine/core";
import { Suspense, use, useMemo, useState } from "react";
import type { ReactNode } from "react";
import type { MeasuredCircuit } from "../../quantum/read-result.ts";
import { countOutcomes, listShots } from "../../quantum/read-shots.ts";
import type { Counted } from "../../quantum/read-shots.ts";
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

/** What was measured of each circuit. */
export function Measured({ circuits, id }: MeasuredProps) {
  const [chosen, setChosen] = useState(0);
  const [set, setSet] = useState(0);
  const circuit = circuits[chosen];
  const counted = useMemo(
    () => (circuit === undefined ? Promise.resolve<Counted>({ outcomes: [] }) : countOutcomes(circuit, set)),
    [circuit, set],
  );
  if (circuit === undefined) return null;
  const names = circuits.map(({ name }) => name);
  return (
    <Stack>
      {(circuits.length > 1 || circuit.sets > 1) && (
        <Group align="flex-end">
          {circuits.length > 1 && (
            <ChooseCircuit
              names={names}
              chosen={chosen}
              choose={(index) => {
                setChosen(index);
                setSet(0);
              }}
            />
          )}
          {circuit.sets > 1 && (
            <NativeSelect
              label="Set of parameters"
              value={String(set)}
              data={Array.from({ length: Math.min(circuit.sets, MOST_SETS) }, (_, index) => ({
                value: String(index),
                label: `${index + 1} of ${circuit.sets}`,
              }))}
              onChange={({ currentTarget }) => setSet(Number(currentTarget.value))}
            />
          )}
        </Group>
      )}
      <Suspense fallback={<Skeleton h={280} />}>
        <Outcomes of={counted} fileName={`${id}-counts.csv`}>
          {circuit.registers !== null && (
            <Button
              variant="default"
              size="xs"
              onClick={() => void saveShots(circuit, set, `${id}-shots.txt`)}
            >
              Download each shot
            </Button>
          )}
        </Outcomes>
      </Suspense>
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
  readonly of: Promise<Counted>;
  readonly fileName: string;
  readonly children: ReactNode;
}

function Outcomes({ of, fileName, children }: OutcomesProps) {
  const { outcomes, why } = use(of);
  if (outcomes === null) return <Text c="dimmed">{why}</Text>;
  return (
    <Stack>
      <CountsTable outcomes={outcomes} />
      <Group gap="xs">
        <Button
          variant="default"
          size="xs"
          onClick={() => saveText(fileName, toCsv(["outcome", "count"], outcomes), "text/csv;charset=utf-8")}
        >
          Download the counts
        </Button>
        {children}
      </Group>
    </Stack>
  );
}
