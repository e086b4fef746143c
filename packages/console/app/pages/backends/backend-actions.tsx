import type { Backend } from "@platform/contract/quantum-api/backends";
import { useOrganisation } from "../../api/scope.tsx";
import { listTextFormats } from "../../quantum/circuits.ts";
import { toSdkProgram } from "../../quantum/programs.ts";
import { CopyAs } from "../../ui/copy-as.tsx";
import { ButtonLink } from "../../ui/link.tsx";
import { OpenButton } from "../../ui/open-button.tsx";

interface BackendActionsProps {
  readonly backend: Backend;
  /** What a job of it is called here. */
  readonly what: string;
}

/** What can be done with a backend. */
export function BackendActions({ backend, what }: BackendActionsProps) {
  const { id } = backend;
  const { slug: org, id: organizationId } = useOrganisation();
  const { origin } = globalThis.location;
  return (
    <>
      <CopyAs
        op="getBackend"
        request={{ params: { backendId: id } }}
        id={id}
        command={`platform backends show ${id}`}
        more={[["Job by the SDK", toSdkProgram(backend, { origin, organizationId })]]}
      />
      <ButtonLink to="/o/$org/quantum-jobs" params={{ org }} search={{ backend: id }} variant="default">
        Its jobs
      </ButtonLink>
      <OpenButton
        op="createQuantumJob"
        set={{ new: "job" }}
        unless={
          listTextFormats(backend).length === 0 ? "It reads no text: the SDK sends what it runs." : null
        }
      >
        {what}
      </OpenButton>
    </>
  );
}
