import { Type } from "typebox";
import { SECRETS_API } from "@platform/contract/platform-api/secrets";
import { VARIABLES_API } from "@platform/contract/platform-api/variables";
import { useChange } from "../api/queries.ts";
import { TextAreaField, TextField } from "./fields.tsx";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

interface SetVariableProps {
  readonly kind: "variable" | "secret";
  /** Of the one whose value is replaced; absent: it is a new one. */
  readonly name?: string;
  /** The present value, which only variables show. */
  readonly value?: string;
  readonly close: () => void;
}

interface Values {
  readonly name: string;
  readonly value: string;
}

const Name = Type.String({ minLength: 1, maxLength: 128 });

/** The body, and the name, which the operation takes from the path. */
const SCHEMAS = {
  variable: Type.Object({ name: Name, ...VARIABLES_API.putOrganizationVariable.body.properties }),
  secret: Type.Object({ name: Name, ...SECRETS_API.putOrganizationSecret.body.properties }),
};

const DESCRIPTIONS = {
  variable: "Members can read it, and so can logs.",
  secret: "At least 8 characters. Nobody can read it again, and logs and results are stored without it.",
} as const;

/** A variable or a secret of the organisation, which runs of all its services get. */
export function SetVariable({ kind, name, value = "", close }: SetVariableProps) {
  const putVariable = useChange("putOrganizationVariable", {
    done: "Variable set.",
    refresh: ["listOrganizationVariables"],
  });
  const putSecret = useChange("putOrganizationSecret", {
    done: "Secret set.",
    refresh: ["listOrganizationSecrets"],
  });
  const put = kind === "secret" ? putSecret : putVariable;
  return (
    <SchemaBackedForm<Values>
      schema={SCHEMAS[kind]}
      initial={{ name: name ?? "", value }}
      // An empty value is one.
      prepare={(values) => values}
      submitLabel="Set"
      submit={(given) => put.run({ params: { name: given.name }, body: { value: given.value } })}
      onDone={close}
      onCancel={close}
    >
      {name === undefined && (
        <TextField
          name="name"
          label="Name"
          description="Letters, digits and underscores. Runs have it in their environment under this name."
          placeholder={kind === "secret" ? "QPU_API_KEY" : "QPU_REGION"}
          isMonospaced
          hasFocus
        />
      )}
      <TextAreaField
        name="value"
        label="Value"
        description={DESCRIPTIONS[kind]}
        rows={2}
        isVerbatim
        hasFocus={name !== undefined}
      />
    </SchemaBackedForm>
  );
}
