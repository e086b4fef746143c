import type { MarketplaceEntry } from "@platform/contract/platform-api/marketplace";
import { SUBSCRIPTIONS_API } from "@platform/contract/platform-api/subscriptions";
import type { Subscription } from "@platform/contract/platform-api/subscriptions";
import type { BodyOf } from "../api/client.ts";
import { useChange } from "../api/queries.ts";
import { describePriceBeside } from "../util/plan-words.ts";
import { CheckField, ChoiceField, TextField } from "./fields.tsx";
import type { FormValues } from "./form-values.ts";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

interface ChangeSubscriptionProps {
  readonly subscription: Subscription;
  /** What is offered now; undefined: the service takes no new subscriptions, so the plan stays. */
  readonly entry: MarketplaceEntry | undefined;
  readonly close: () => void;
}

/** Another plan, another version, or other readers of its logs. */
export function ChangeSubscription({ subscription, entry, close }: ChangeSubscriptionProps) {
  const { id, version, sharesLogs, plan } = subscription;
  const change = useChange("putSubscription", {
    done: "Changed.",
    refresh: ["getSubscription", "listSubscriptions"],
  });
  const plans = plan === null ? [] : (entry?.plans ?? []);
  const isKept = plans.every((one) => one.id !== plan?.id);
  return (
    <SchemaBackedForm<BodyOf<"putSubscription">>
      schema={SUBSCRIPTIONS_API.putSubscription.body}
      initial={{ planId: isKept ? KEPT : plan?.id, version: version ?? "", sharesLogs }}
      prepare={(values) => toBody(values, version)}
      submitLabel="Change"
      submit={(body) => change.run({ params: { id }, body })}
      onDone={close}
      onCancel={close}
    >
      {plans.length > 0 && (
        <ChoiceField
          name="planId"
          label="Plan"
          description="Its current terms hold from now on"
          options={[
            ...(isKept && plan !== null ? [{ value: KEPT, label: `${plan.name} (no longer offered)` }] : []),
            ...plans.map((one) => ({ value: one.id, label: describePlan(one) })),
          ]}
        />
      )}
      <TextField
        name="version"
        label="Version"
        placeholder="1"
        description="1.2.3 pins this version, 1 follows the highest live 1.x.y. Empty: the highest live version."
      />
      <CheckField name="sharesLogs" label="The provider may read the logs" isSwitch />
    </SchemaBackedForm>
  );
}

/** No plan has this identifier: they have two characters at least. */
const KEPT = "-";

function describePlan(plan: MarketplaceEntry["plans"][number]): string {
  return [plan.name, describePriceBeside(plan)].filter(Boolean).join(": ");
}

/** What is the same is left out: naming the plan again would change it to its current terms. */
function toBody({ planId, version, sharesLogs }: FormValues, former: string | null): FormValues {
  const named = version === "" ? null : version;
  return {
    sharesLogs,
    ...(named === former ? {} : { version: named }),
    ...(planId === KEPT || planId === undefined ? {} : { planId }),
  };
}
