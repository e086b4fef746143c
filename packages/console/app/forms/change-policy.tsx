import { SimpleGrid, Stack, Text, Title } from "@mantine/core";
import { POLICIES_API } from "@platform/contract/platform-api/policies";
import type { PolicyRevision } from "@platform/contract/platform-api/policies";
import type { BodyOf } from "../api/client.ts";
import { useChange } from "../api/queries.ts";
import { useBegun } from "../ui/changed-meanwhile.tsx";
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
  const put = useChange("putPolicy", { done: "Saved.", refresh: ["getPolicy", "listPolicyRevisions"] });
  const { begun, replaces, begin, notice } = useBegun(current, put.isRunning);
  return (
    <Stack>
      {notice}
      <PolicyForm
        key={begun.revision}
        begun={begun}
        replaces={replaces}
        put={(body) => put.run({ params: { key }, body }).then(begin)}
      />
    </Stack>
  );
}

interface PolicyFormProps {
  readonly begun: PolicyRevision;
  /** The revision that is replaced. */
  readonly replaces: number;
  readonly put: (body: BodyOf<"putPolicy">) => Promise<void>;
}

function PolicyForm({ begun, replaces, put }: PolicyFormProps) {
  return (
    <SchemaBackedForm<BodyOf<"putPolicy">>
      schema={POLICIES_API.putPolicy.body}
      initial={toValues(begun)}
      prepare={(values) => ({ policy: {}, ...withoutEmpty(values), revision: replaces })}
      submitLabel="Save"
      submit={put}
    >
      <Standing of={begun} />
      <Limits />
      <Retries />
    </SchemaBackedForm>
  );
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
          isDecimal
        />
        <NumberField
          name="policy.retries.onError.maxBackoffSeconds"
          label="The longest pause"
          description="Seconds"
          min={0}
          isDecimal
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
