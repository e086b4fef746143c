import { Group, SimpleGrid, Stack } from "@mantine/core";
import type { RefObject } from "react";
import { Type } from "typebox";
import { PLANS_API } from "@platform/contract/platform-api/plans";
import type { Plan, PutPlan } from "@platform/contract/platform-api/plans";
import { useChange } from "../api/queries.ts";
import type { Change } from "../api/queries.ts";
import { useBegun } from "../ui/changed-meanwhile.tsx";
import type { FormHandle } from "../ui/changed-meanwhile.tsx";
import { ChoiceField, NumberField, TextAreaField, TextField } from "./fields.tsx";
import type { FormValues } from "./form-values.ts";
import { toFields, withoutEmpty } from "./form-values.ts";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

/** The form asks for the terms, and for the name in URLs, which the operation takes from the path. */
const FORM = Type.Object({
  ...PLANS_API.putPlan.body.properties,
  planId: PLANS_API.putPlan.params.properties.planId,
});

interface PutPlanFormProps {
  readonly serviceKey: string;
  /** The terms that are changed; null: a new plan. */
  readonly plan: Plan | null;
  readonly close: () => void;
}

/**
 * A plan, or other terms of one. What is entered stays when somebody else changes the plan meanwhile; the platform refuses to replace
 * what was not seen.
 */
export function PutPlanForm({ plan, ...props }: PutPlanFormProps) {
  const put = useChange("putPlan", {
    done: plan === null ? "Plan created." : "Terms changed.",
    refresh: ["listPlans", "getMarketplaceEntry", "listMarketplace"],
  });
  const { begun, key, form, replaces, noteSaved, notice } = useBegun(plan, put.isRunning);
  return (
    <Stack>
      {notice}
      <Terms
        key={key}
        form={form}
        {...props}
        plan={begun}
        replaces={replaces}
        put={put}
        onSaved={noteSaved}
      />
    </Stack>
  );
}

interface TermsProps extends PutPlanFormProps {
  readonly form: RefObject<FormHandle | null>;
  /** The revision that is replaced; 0: none. */
  readonly replaces: number;
  readonly put: Change<"putPlan">;
  readonly onSaved: (as: Plan) => void;
}

function Terms({ form, serviceKey: key, plan, replaces, put, onSaved, close }: TermsProps) {
  return (
    <SchemaBackedForm<PutPlan & { readonly planId: string }, Plan>
      handle={form}
      schema={FORM}
      initial={toTerms(plan)}
      prepare={(values) => ({ limits: {}, ...withoutEmpty(values) })}
      submitLabel={plan === null ? "Create" : "Change"}
      submit={({ planId, ...body }) =>
        put.run({ params: { key, planId }, body: { ...body, revision: replaces } })
      }
      toSaved={toTerms}
      onDone={(_sent, saved) => {
        // Where more was entered meanwhile, the user may stay.
        onSaved(saved);
        close();
      }}
      onCancel={close}
    >
      <TextField name="name" label="Name" isRequired hasFocus />
      {plan === null && (
        <TextField name="planId" label="Name in URLs" placeholder="basic" isRequired isMonospaced />
      )}
      <TextAreaField name="description" label="Description" rows={2} />
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <TextField name="currency" label="Currency" placeholder="EUR" />
        <TextField name="monthly" label="Price per month" placeholder="0" />
        <TextField name="perExecution" label="Price per execution" placeholder="0" />
        <TextField name="perCpuSecond" label="Price per CPU-second" placeholder="0" />
        <ChoiceField name="unit" label="Quotas count" options={UNITS} />
        <NumberField name="included" label="Included per month" min={0} />
        <NumberField name="limits.perMonth" label="At most per month" min={1} />
        <NumberField name="limits.perMinute" label="Starts per minute" min={1} />
        <NumberField name="limits.concurrent" label="Executions at one time" min={1} />
        <NumberField name="limits.applications" label="Applications of an organisation" min={1} />
      </SimpleGrid>
      <Group c="dimmed" fz="sm">
        {plan === null
          ? "An empty price is 0, an empty limit is what the platform allows."
          : "Subscriptions keep the terms they were made with until they change their plan."}
      </Group>
    </SchemaBackedForm>
  );
}

const UNITS = [
  { value: "execution", label: "Executions" },
  { value: "cpu-second", label: "CPU-seconds" },
];

/** A new plan has its unit alone; a limit or currency that is null is an empty field. */
function toTerms(plan: Plan | null): FormValues {
  if (plan === null) return { ...EMPTY, unit: "execution" };
  const {
    id: planId,
    name,
    description,
    currency,
    monthly,
    perExecution,
    perCpuSecond,
    unit,
    included,
    limits,
  } = plan;
  return toFields({
    planId,
    name,
    description,
    monthly,
    perExecution,
    perCpuSecond,
    unit,
    included,
    currency,
    limits,
  });
}

/** Limits are a part of the body: what is wrong with one is told at its field only if the field is within it, too. */
const EMPTY: FormValues = {
  ...toEmpty(FORM),
  limits: toEmpty(FORM.properties.limits),
};

function toEmpty({ properties }: { readonly properties: object }): FormValues {
  return Object.fromEntries(Object.keys(properties).map((name) => [name, ""]));
}
