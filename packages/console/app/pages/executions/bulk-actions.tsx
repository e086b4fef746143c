import { Group, Text } from "@mantine/core";
import { MOST_CANCELLED_IDS } from "@platform/contract/limits";
import { useChange } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import type { ExecutionsSearch } from "../../execution/filter.ts";
import { useRefusal } from "../../ui/can.tsx";
import { ConfirmButton } from "../../ui/confirm.tsx";
import { ButtonLink } from "../../ui/link.tsx";
import { notifyDone } from "../../ui/notify.ts";
import { divide } from "../../util/divide.ts";
import { formatCount } from "../../util/units.ts";

interface BulkActionsProps {
  readonly kind: ExecutionsSearch["kind"];
  readonly selected: ReadonlySet<string>;
  readonly onDone: () => void;
}

/** What is done with the executions that are selected. Its place is kept while there are none: the rows below would move away from the mouse. */
export function BulkActions({ kind, selected, onDone }: BulkActionsProps) {
  const cancel = useChange("cancelExecutions", { refresh: ["listExecutions", "countExecutions"] });
  const refusal = useRefusal("cancelExecutions");
  const count = selected.size;
  const cancelSelected = async () => {
    const done = { cancelled: 0, finishedMeanwhile: 0 };
    for (const ids of divide([...selected], MOST_CANCELLED_IDS)) {
      const { cancelled, finishedMeanwhile } = await cancel.run({ body: { ids } });
      done.cancelled += cancelled;
      done.finishedMeanwhile += finishedMeanwhile;
    }
    notifyDone(describeCancelled(done.cancelled, done.finishedMeanwhile));
    onDone();
  };
  return (
    <Group gap="xs" mb="sm" mih={30}>
      {count === 0 && (
        <Text fz="sm" c="dimmed">
          {kind === "incoming" || refusal !== null
            ? "Select two executions to compare them."
            : "Select executions to cancel them, or two to compare them."}
        </Text>
      )}
      {count > 0 && (
        <>
          <Text fz="sm">{formatCount(count)} selected</Text>
          <ConfirmButton
            op="cancelExecutions"
            label="Cancel selected"
            question={
              count === 1 ? "Cancel this execution?" : `Cancel these ${formatCount(count)} executions?`
            }
            button={{ size: "compact-sm" }}
            run={cancelSelected}
          >
            What waits ends at once, what runs within seconds. What has ended stays as it is, and so do
            incoming executions.
          </ConfirmButton>
          {count === 2 && <CompareButton ids={[...selected]} />}
        </>
      )}
    </Group>
  );
}

/** What has become of them, a sentence or two. */
function describeCancelled(cancelled: number, finishedMeanwhile: number): string {
  const done = `${formatCount(cancelled)} cancelled.`;
  return finishedMeanwhile === 0 ? done : `${done} ${formatCount(finishedMeanwhile)} had ended before.`;
}

/** The older one is the first. */
function CompareButton({ ids }: { readonly ids: readonly string[] }) {
  const { slug } = useOrganisation();
  // Identifiers begin with their time.
  const [a, b] = ids.toSorted();
  if (a === undefined || b === undefined) return null;
  return (
    <ButtonLink
      to="/o/$org/executions/compare"
      params={{ org: slug }}
      search={{ a, b }}
      size="compact-sm"
      variant="default"
    >
      Compare
    </ButtonLink>
  );
}
