import { Type } from "typebox";
import { SECRETS_API } from "@platform/contract/platform-api/secrets";
import { VARIABLES_API } from "@platform/contract/platform-api/variables";
import { VARIABLE_NAME_PATTERN } from "@platform/contract/variable-names";
import { useChange } from "../api/queries.ts";
import { PasswordField, TextAreaField, TextField } from "./fields.tsx";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

interface SetVariableProps {
  readonly serviceKey: string;
  /** null: a new one. */
  readonly name: string | null;
  readonly close: () => void;
}

/** What the form holds: the name stands in the path of the request. */
interface Entered {
  readonly name: string;
  readonly value: string;
}

const Name = Type.String({ pattern: VARIABLE_NAME_PATTERN });
const VARIABLE = Type.Object({ name: Name, value: VARIABLES_API.putVariable.body.properties.value });
const SECRET = Type.Object({ name: Name, value: SECRETS_API.putSecret.body.properties.value });
const NAME_HINT = "Letters, digits and underscores; no digit first";

/** A variable that members can read. */
export function SetServiceVariable({ serviceKey: key, name, close }: SetVariableProps) {
  const put = useChange("putVariable", { done: "Set.", refresh: ["listVariables"] });
  return (
    <SchemaBackedForm<Entered>
      schema={VARIABLE}
      initial={{ name: name ?? "", value: "" }}
      // An empty value is one.
      prepare={(values) => values}
      submitLabel="Set"
      submit={(entered) => put.run({ params: { key, name: entered.name }, body: { value: entered.value } })}
      onDone={close}
      onCancel={close}
    >
      {name === null && <TextField name="name" label="Name" description={NAME_HINT} isMonospaced hasFocus />}
      <TextAreaField name="value" label="Value" rows={2} isVerbatim />
    </SchemaBackedForm>
  );
}

/** A secret: its value is sent, and never shown again. */
export function SetServiceSecret({ serviceKey: key, name, close }: SetVariableProps) {
  const put = useChange("putSecret", { done: "Set.", refresh: ["listSecrets"] });
  return (
    <SchemaBackedForm<Entered>
      schema={SECRET}
      initial={{ name: name ?? "", value: "" }}
      submitLabel="Set"
      submit={(entered) => put.run({ params: { key, name: entered.name }, body: { value: entered.value } })}
      onDone={close}
      onCancel={close}
    >
      {name === null && <TextField name="name" label="Name" description={NAME_HINT} isMonospaced hasFocus />}
      <PasswordField
        name="value"
        label="Value"
        description="At least 8 characters. Nobody can read it afterwards; it can be set again."
        autoComplete="new-password"
      />
    </SchemaBackedForm>
  );
}
