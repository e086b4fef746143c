import { useState } from "react";
import type { MarketplaceEntry } from "@platform/contract/platform-api/marketplace";
import { SUBSCRIPTIONS_API } from "@platform/contract/platform-api/subscriptions";
import type { Subscription } from "@platform/contract/platform-api/subscriptions";
import type { FieldsOf } from "../api/client.ts";
import { useChange } from "../api/queries.ts";
import { KEPT, listPlanChoices } from "../util/plan-choices.ts";
import { CheckField, ChoiceField, TextField } from "./fields.tsx";
import type { FormValues } from "./form-values.ts";
import { SchemaBackedForm } from "./schema-backed-form.tsx";
import { useSendChanged } from "./use-send-changed.ts";

interface ChangeSubscriptionProps {
  readonly subscription: Subscription;
  /** What is offered now; undefined: the service takes no new subscriptions, so the plan stays. */
  readonly entry: MarketplaceEntry | undefined;
  readonly close: () => void;
}

/** Another plan, another version, or other readers of its logs. */
export function ChangeSubscription({ subscription, entry, close }: ChangeSubscriptionProps) {
  const { id, plan } = subscription;
  const [begun] = useState({ version: subscription.version, sharesLogs: subscription.sharesLogs });
  const sendChanged = useSendChanged(begun);
  const change = useChange("putSubscription", {
    done: "Changed.",
    refresh: ["getSubscription", "listSubscriptions"],
  });
  const plans = entry?.plans ?? [];
  return (
    <SchemaBackedForm<FieldsOf<"putSubscription">>
      schema={SUBSCRIPTIONS_API.putSubscription.body}
      initial={{ planId: KEPT, version: begun.version ?? "", sharesLogs: begun.sharesLogs }}
      prepare={toBody}
      submitLabel="Change"
      submit={(body) => sendChanged(body, (changed) => change.run({ params: { id }, body: changed }))}
      onDone={close}
      onCancel={close}
    >
      {plan !== null && plans.length > 0 && (
        <ChoiceField
          name="planId"
          label="Plan"
          description="The terms of another one hold from now on"
          options={listPlanChoices(plan, plans)}
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

/** A plan that stays is left out: naming it again would change it to its current terms. */
function toBody({ planId, version, sharesLogs }: FormValues): FormValues {
  return {
    sharesLogs,
    version: version === "" ? null : version,
    ...(planId === KEPT ? {} : { planId }),
  };
}
