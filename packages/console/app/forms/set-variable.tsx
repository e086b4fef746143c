import { Type } from "typebox";
import { SECRETS_API } from "@platform/contract/platform-api/secrets";
import { VARIABLES_API } from "@platform/contract/platform-api/variables";
import { useChange } from "../api/queries.ts";
import { TextAreaField, TextField } from "./fields.tsx";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

interface SetVariableProps {
  /** Of the service that alone gets it; absent: all of the organisation. */
  readonly serviceKey?: string;
  readonly kind: "variable" | "secret";
  /** Of the one whose value is replaced; absent: it is a new one. */
  readonly name?: string;
  /** Of those that there are: a new one takes the place of none of them. */
  readonly taken: readonly { readonly name: string }[];
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

const TAKEN = {
  variable: 'There is a variable of this name already: "Change" in its row sets another value',
  secret: 'There is a secret of this name already: "Replace" in its row sets another value',
} as const;

/** A variable or a secret, which runs of one service get, or of all services of the organisation. */
export function SetVariable({ serviceKey, kind, name, taken, value = "", close }: SetVariableProps) {
  const put = usePut(kind, serviceKey);
  return (
    <SchemaBackedForm<Values>
      schema={SCHEMAS[kind]}
      initial={{ name: name ?? "", value }}
      // An empty value is one.
      prepare={(values) => values}
      check={(entered) =>
        name === undefined && taken.some((one) => one.name === entered.name) ? { name: TAKEN[kind] } : {}
      }
      submitLabel="Set"
      submit={put}
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

/** The operation of each kind, for one service or for all. */
function usePut(kind: SetVariableProps["kind"], key: string | undefined) {
  const done = kind === "secret" ? "Secret set." : "Variable set.";
  const secretOfAll = useChange("putOrganizationSecret", { done, refresh: ["listOrganizationSecrets"] });
  const variableOfAll = useChange("putOrganizationVariable", {
    done,
    refresh: ["listOrganizationVariables"],
  });
  const secret = useChange("putSecret", { done, refresh: ["listSecrets"] });
  const variable = useChange("putVariable", { done, refresh: ["listVariables"] });
  const ofAll = kind === "secret" ? secretOfAll : variableOfAll;
  const ofOne = kind === "secret" ? secret : variable;
  return ({ name, value }: Values): Promise<unknown> =>
    key === undefined
      ? ofAll.run({ params: { name }, body: { value } })
      : ofOne.run({ params: { key, name }, body: { value } });
}
