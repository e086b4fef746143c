import { Type } from "typebox";
import { OPERATOR_BACKENDS_API } from "@platform/contract/platform-api/operator-backends";
import type { ItemOf } from "../api/client.ts";
import { useChange } from "../api/queries.ts";
import { ChoiceField, TextField } from "./fields.tsx";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

const { params, body } = OPERATOR_BACKENDS_API.putPlatformBackend;

const LONGEST_KEY = 64;

/** The body, and the id, which the operation takes from the path. */
const SCHEMAS = {
  backend: Type.Object({
    ...params.properties,
    serviceKey: Type.String({ minLength: 1, maxLength: LONGEST_KEY }),
  }),
  alias: Type.Object({ ...params.properties, aliasOf: body.properties.aliasOf }),
};

interface Values {
  readonly backendId: string;
  readonly serviceKey?: string;
  readonly aliasOf?: string;
}

interface ShareBackendProps {
  readonly kind: "backend" | "alias";
  /** What there is to give another name. */
  readonly shared: readonly ItemOf<"listPlatformBackends">[];
  readonly close: () => void;
}

/** A backend for all organisations, or another name of one. */
export function ShareBackend({ kind, shared, close }: ShareBackendProps) {
  const put = useChange("putPlatformBackend", {
    done: kind === "alias" ? "Alias added." : "All organisations may use it.",
    refresh: ["listPlatformBackends", "listBackends"],
  });
  return (
    <SchemaBackedForm<Values>
      schema={SCHEMAS[kind]}
      initial={
        kind === "alias" ? { backendId: "", aliasOf: shared[0]?.id ?? "" } : { backendId: "", serviceKey: "" }
      }
      submitLabel={kind === "alias" ? "Add" : "Share"}
      submit={({ backendId, ...target }) => put.run({ params: { backendId }, body: target })}
      onDone={close}
      onCancel={close}
    >
      <TextField
        name="backendId"
        label={kind === "alias" ? "Alias" : "Id of the backend"}
        description={
          kind === "alias"
            ? "Programs that name it run on the simulator below, which its display name says"
            : "What jobs of all organisations name it by"
        }
        placeholder={kind === "alias" ? "azure.ionq.simulator" : "sim.statevector"}
        isMonospaced
        hasFocus
      />
      {kind === "alias" ? (
        <ChoiceField
          name="aliasOf"
          label="Stands for"
          options={shared.map(({ id }) => ({ value: id, label: id }))}
        />
      ) : (
        <TextField
          name="serviceKey"
          label="Key of the service"
          description="Whose latest live version runs the jobs; the page of the service has it"
          isMonospaced
        />
      )}
    </SchemaBackedForm>
  );
}
