import { Group, Text } from "@mantine/core";
import { useChange } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { toFilter } from "../../execution/filter.ts";
import type { ExecutionsSearch } from "../../execution/filter.ts";
import { CancelMatching } from "../../forms/cancel-matching.tsx";
import { ConfirmButton } from "../../ui/confirm.tsx";
import { RoutedDialog } from "../../ui/dialog.tsx";
import { ButtonLink } from "../../ui/link.tsx";
import { notifyDone } from "../../ui/notify.ts";
import { OpenButton } from "../../ui/open-button.tsx";
import { divide } from "../../util/divide.ts";
import { formatCount } from "../../util/units.ts";

/** The most identifiers of one request. */
const MOST_AT_ONCE = 500;

interface BulkActionsProps {
  readonly search: ExecutionsSearch;
  readonly selected: ReadonlySet<string>;
  readonly onDone: () => void;
}

/** What is done with many executions: those that are selected, or all that the filter matches. */
export function BulkActions({ search, selected, onDone }: BulkActionsProps) {
  const { slug } = useOrganisation();
  const cancel = useChange("cancelExecutions", { refresh: ["listExecutions", "countExecutions"] });
  const count = selected.size;
  const cancelSelected = async () => {
    const done = { cancelled: 0, finishedMeanwhile: 0 };
    for (const ids of divide([...selected], MOST_AT_ONCE)) {
      const { cancelled, finishedMeanwhile } = await cancel.run({ body: { ids } });
      done.cancelled += cancelled;
      done.finishedMeanwhile += finishedMeanwhile;
    }
    notifyDone(describeCancelled(done.cancelled, done.finishedMeanwhile));
    onDone();
  };
  return (
    <Group gap="xs" mb="sm" mih={30}>
      {search.kind !== "incoming" && (
        <OpenButton op="cancelExecutions" set={{ cancel: "all" }} size="compact-sm" variant="default">
          Cancel all that match
        </OpenButton>
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
      <RoutedDialog title="Cancel all that match" when={["cancel", "all"]}>
        {(close) => <CancelMatching filter={toFilter(search)} slug={slug} close={close} />}
      </RoutedDialog>
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
