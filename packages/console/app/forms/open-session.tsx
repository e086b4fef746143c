import { Type } from "typebox";
import { MOST_SESSION_SECONDS, SESSIONS_API } from "@platform/contract/quantum-api/sessions";
import type { AnswerOf } from "../api/client.ts";
import { q, useChange, useFetched } from "../api/queries.ts";
import { Failure } from "../ui/failure.tsx";
import { ChoiceField, NumberField } from "./fields.tsx";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

const MINUTE = 60;
const MOST_MINUTES = MOST_SESSION_SECONDS / MINUTE;

const FORM = Type.Object({
  backend_id: SESSIONS_API.createQuantumSession.body.properties.backend_id,
  minutes: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_MINUTES })),
});

interface Entered {
  readonly backend_id: string;
  readonly minutes?: number;
}

interface OpenSessionProps {
  readonly onOpened: (session: AnswerOf<"createQuantumSession">) => void;
  readonly onCancel: () => void;
}

/** A session on one of the organisation's backends. */
export function OpenSession({ onOpened, onCancel }: OpenSessionProps) {
  const { data, error, retry } = useFetched(q("listBackends", {}));
  const open = useChange("createQuantumSession", {
    done: "Session opened.",
    refresh: ["listQuantumWorkloads"],
  });
  if (error !== null) return <Failure error={error} retry={retry} />;
  if (data === undefined) return null;
  return (
    <SchemaBackedForm<Entered>
      schema={FORM}
      initial={{ backend_id: data[0]?.id ?? "", minutes: MINUTE }}
      submitLabel="Open"
      submit={async ({ backend_id, minutes }) =>
        onOpened(
          await open.run({
            body: {
              backend_id,
              sdk_provider: "CONSOLE",
              ...(minutes === undefined ? {} : { ttl: minutes * MINUTE }),
            },
          }),
        )
      }
      onCancel={onCancel}
    >
      <ChoiceField
        name="backend_id"
        label="Backend"
        description="Jobs of the session run on the version that it has now"
        options={data.map(({ id }) => ({ value: id, label: id }))}
      />
      <NumberField
        name="minutes"
        label="Open for"
        description={`Up to ${MOST_MINUTES / MINUTE} hours; it can be closed earlier`}
        suffix=" minutes"
        min={1}
        max={MOST_MINUTES}
      />
    </SchemaBackedForm>
  );
}
