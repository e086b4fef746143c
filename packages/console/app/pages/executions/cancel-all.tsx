import { toFilter } from "../../execution/filter.ts";
import type { ExecutionsSearch } from "../../execution/filter.ts";
import type { ExecutionSummary } from "../../execution/kinds.ts";
import type { LoadedPages } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { CancelMatching } from "../../forms/cancel-matching.tsx";
import { RoutedDialog } from "../../ui/dialog.tsx";
import { OpenButton } from "../../ui/open-button.tsx";

interface CancelAllProps {
  readonly search: ExecutionsSearch;
  readonly list: LoadedPages<ExecutionSummary>;
}

const NOTHING = "Nothing that the filter matches waits or runs.";

/** Cancels what the filter matches. Where the whole list is there, it is known whether that is anything. */
export function CancelAll({ search, list: { items, hasMore } }: CancelAllProps) {
  const { slug } = useOrganisation();
  const isAny = hasMore || items.some(({ terminal, kind }) => !terminal && kind !== "incoming");
  return (
    <>
      {search.kind !== "incoming" && (
        <OpenButton
          op="cancelExecutions"
          set={{ cancel: "all" }}
          unless={isAny ? null : NOTHING}
          variant="default"
        >
          Cancel all that match
        </OpenButton>
      )}
      <RoutedDialog title="Cancel all that match" when={["cancel", "all"]}>
        {(close) => <CancelMatching filter={toFilter(search)} slug={slug} close={close} />}
      </RoutedDialog>
    </>
  );
}
