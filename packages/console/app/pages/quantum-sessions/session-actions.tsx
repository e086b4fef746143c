import type { QuantumSession } from "@platform/contract/quantum-api/sessions";
import { useChange } from "../../api/queries.ts";
import type { OperationId } from "../../api/client.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { Can } from "../../ui/can.tsx";
import { ConfirmButton } from "../../ui/confirm.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { ButtonLink } from "../../ui/link.tsx";

const REFRESH: readonly OperationId[] = [
  "getQuantumSession",
  "listQuantumSessionJobs",
  "listQuantumWorkloads",
  "listQuantumJobs",
];

/** What can be done with a session. */
export function SessionActions({ session }: { readonly session: QuantumSession }) {
  const { id, backend_id: backend, accept_jobs: isOpen, final } = session;
  const { slug: org } = useOrganisation();
  const params = { id };
  return (
    <>
      <CopyAs
        op="getQuantumSession"
        request={{ params }}
        id={id}
        command={`platform quantum jobs --session=${id}`}
        {...(final ? {} : { more: [["Command that closes it", `platform quantum close ${id}`]] })}
      />
      {!final && <Drain session={session} />}
      {!final && <Close session={session} />}
      {isOpen && (
        <Can op="createQuantumJob">
          <ButtonLink
            to="/o/$org/backends/$id"
            params={{ org, id: backend }}
            search={{ new: "job", session: id }}
          >
            Run in it
          </ButtonLink>
        </Can>
      )}
    </>
  );
}

function Drain({ session: { id, accept_jobs: isOpen } }: { readonly session: QuantumSession }) {
  const patch = useChange("patchQuantumSession", {
    done: isOpen ? "It takes no more jobs." : "It takes jobs again.",
    refresh: REFRESH,
  });
  return (
    <ConfirmButton
      op="patchQuantumSession"
      label={isOpen ? "Take no more jobs" : "Take jobs again"}
      question={isOpen ? "Let the session take no more jobs?" : "Let the session take jobs again?"}
      run={() => patch.run({ params: { id }, body: { accept_jobs: !isOpen } })}
    >
      {isOpen
        ? "Those that it has go on. As long as it is not closed, it can take jobs again."
        : "Jobs that name it are accepted until its time is over."}
    </ConfirmButton>
  );
}

function Close({ session: { id, status } }: { readonly session: QuantumSession }) {
  const close = useChange("closeQuantumSession", { done: "The session is closed.", refresh: REFRESH });
  const cancel = useChange("cancelQuantumSession", {
    done: "The session is closed, and its jobs end.",
    refresh: REFRESH,
  });
  const request = { params: { id } };
  return (
    <>
      {status === "ACTIVE" && (
        <ConfirmButton
          op="cancelQuantumSession"
          label="Close and cancel jobs"
          question="Close the session and cancel its jobs?"
          run={() => cancel.run(request)}
        >
          Jobs that wait end at once, those that run within seconds. A closed session is not opened again.
        </ConfirmButton>
      )}
      <ConfirmButton
        op="closeQuantumSession"
        label="Close session"
        question="Close the session?"
        run={() => close.run(request)}
      >
        Jobs that it has go on. It takes no more, and is not opened again.
      </ConfirmButton>
    </>
  );
}
