import type { ButtonProps } from "@mantine/core";
import { useChange } from "../../api/queries.ts";
import type { Execution } from "../../execution/advice.ts";
import { ConfirmButton } from "../../ui/confirm.tsx";

interface CancelExecutionProps {
  readonly execution: Execution;
  readonly button?: ButtonProps;
  /** A letter that asks. */
  readonly shortcut?: string;
}

/** Cancels an execution of the organisation that has not ended. */
export function CancelExecution({ execution, ...shown }: CancelExecutionProps) {
  const { id, kind, terminal, isCancelRequested } = execution;
  const cancel = useChange("cancelExecutions", {
    done: "It is being cancelled.",
    refresh: ["getExecution", "listExecutions", "countExecutions"],
  });
  if (kind === "incoming" || terminal) return null;
  return (
    <ConfirmButton
      {...shown}
      op="cancelExecutions"
      label={isCancelRequested ? "Cancelling" : "Cancel"}
      question="Cancel this execution?"
      run={() => cancel.run({ body: { ids: [id] } })}
    >
      What waits ends at once, what runs within seconds. What its code has done already stays done.
    </ConfirmButton>
  );
}
