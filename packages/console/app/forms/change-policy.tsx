import { SimpleGrid, Stack, Text, Title } from "@mantine/core";
import type { RefObject } from "react";
import { POLICIES_API } from "@platform/contract/platform-api/policies";
import type { PolicyRevision } from "@platform/contract/platform-api/policies";
import type { BodyOf, FieldsOf } from "../api/client.ts";
import { q, useChange } from "../api/queries.ts";
import { useBegun } from "../ui/changed-meanwhile.tsx";
import type { FormHandle } from "../ui/changed-meanwhile.tsx";
import { Time } from "../ui/time.tsx";
import { ChoiceField, NumberField, TagsField } from "./fields.tsx";
import { withoutEmpty } from "./form-values.ts";
import type { FormValues } from "./form-values.ts";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

const COLUMNS = { base: 1, sm: 2 } as const;

interface ChangePolicyProps {
  readonly serviceKey: string;
  readonly current: PolicyRevision;
}

/**
 * The policy of a service as a whole: what is left empty is as the platform and the version say. What is entered stays when somebody
 * else sets another revision meanwhile; the platform refuses to replace what was not seen.
 */
export function ChangePolicy({ serviceKey: key, current }: ChangePolicyProps) {
  const put = useChange("putPolicy", {
    done: "Saved.",
    gives: q("getPolicy", { params: { key } }),
    refresh: ["getPolicy", "listPolicyRevisions"],
  });
  const { begun, key: formKey, form, replaces, noteSaved, notice } = useBegun(current, put.isRunning);
  return (
    <Stack>
      {notice}
      <PolicyForm
        key={formKey}
        form={form}
        begun={begun}
        replaces={replaces}
        put={(body) => put.run({ params: { key }, body })}
        onSaved={noteSaved}
      />
    </Stack>
  );
}

interface PolicyFormProps {
  readonly form: RefObject<FormHandle | null>;
  readonly begun: PolicyRevision;
  /** The revision that is replaced. */
  readonly replaces: number;
  readonly put: (body: BodyOf<"putPolicy">) => Promise<PolicyRevision>;
  readonly onSaved: (as: PolicyRevision) => void;
}

function PolicyForm({ form, begun, replaces, put, onSaved }: PolicyFormProps) {
  return (
    <SchemaBackedForm<FieldsOf<"putPolicy">, PolicyRevision>
      handle={form}
      schema={POLICIES_API.putPolicy.body}
      initial={toValues(begun)}
      prepare={(values) => ({ policy: {}, ...withoutEmpty(values), revision: replaces })}
      check={explainPause}
      submitLabel="Save"
      submit={put}
      toSaved={toValues}
      onDone={(_sent, saved) => onSaved(saved)}
    >
      <Standing of={begun} />
      <Limits />
      <Retries />
    </SchemaBackedForm>
  );
}

/** How often has no default: a pause, or codes, are of no use without. */
function explainPause({ policy }: FieldsOf<"putPolicy">): Readonly<Record<string, string>> {
  const onError = policy.retries?.onError;
  if (onError === undefined || onError.max !== undefined) return {};
  const isPause = onError.backoffSeconds !== undefined || onError.maxBackoffSeconds !== undefined;
  return { "policy.retries.onError.max": `Is required with ${isPause ? "a pause" : "codes"}` };
}

function Standing({ of: { revision, createdAt, createdBy } }: { readonly of: PolicyRevision }) {
  return (
    <Text c="dimmed" fz="sm">
      {createdAt === null ? (
        "Nothing was ever set: the platform and the version decide."
      ) : (
        <>
          Revision {revision}, set <Time at={createdAt} />
          {createdBy === null ? "" : ` by ${createdBy}`}. What is left empty is as the platform and the
          version say.
        </>
      )}
    </Text>
  );
}

function Limits() {
  return (
    <SimpleGrid cols={COLUMNS}>
      <NumberField
        name="policy.timeoutSeconds"
        label="Time limit"
        description="Of one execution, in seconds"
        min={1}
      />
      <NumberField
        name="policy.startWithinSeconds"
        label="To begin within"
        description="Seconds; what has not begun by then fails"
        min={1}
      />
      <NumberField
        name="policy.concurrency.service"
        label="At one time"
        description="Executions; others wait"
        min={1}
      />
      <NumberField
        name="policy.concurrency.subscription"
        label="At one time for one subscription"
        description="For jobs: for one organisation"
        min={1}
      />
      <ChoiceField
        name="policy.priority"
        label="Priority"
        description="High is for organisations that the operator allows"
        options={[
          { value: "low", label: "Low" },
          { value: "normal", label: "Normal" },
          { value: "high", label: "High" },
        ]}
      />
    </SimpleGrid>
  );
}

function Retries() {
  return (
    <>
      <Title order={2} fz="lg">
        Started again
      </Title>
      <SimpleGrid cols={COLUMNS}>
        <ChoiceField
          name="policy.retries.onLost"
          label="When its worker is lost"
          description="The code may have run, as far as it came"
          options={[
            { value: "unknown", label: "Never: it ends UNKNOWN" },
            { value: "retry", label: "Start it again" },
          ]}
        />
        <NumberField
          name="policy.retries.onError.max"
          label="After a failure, so often"
          description="Empty: never"
          min={1}
        />
        <NumberField
          name="policy.retries.onError.backoffSeconds"
          label="Pause before the second attempt"
          description="Seconds; twice as long each time"
          min={0}
        />
        <NumberField
          name="policy.retries.onError.maxBackoffSeconds"
          label="The longest pause"
          description="Seconds"
          min={0}
        />
        <TagsField
          name="policy.retries.onError.codes"
          label="With these codes"
          description="Empty: what may be another time is"
        />
      </SimpleGrid>
    </>
  );
}

function toValues({ policy }: PolicyRevision): FormValues {
  const { concurrency, retries } = policy;
  const onError = { max: "", backoffSeconds: "", maxBackoffSeconds: "", codes: [], ...retries?.onError };
  return {
    policy: {
      timeoutSeconds: "",
      startWithinSeconds: "",
      priority: "normal",
      ...policy,
      concurrency: { service: "", subscription: "", ...concurrency },
      retries: { onLost: "unknown", ...retries, onError },
    },
  };
}
