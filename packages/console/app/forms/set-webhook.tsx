import { useState } from "react";
import { WEBHOOK_EVENTS, WEBHOOKS_API } from "@platform/contract/platform-api/webhooks";
import type { Webhook } from "@platform/contract/platform-api/webhooks";
import type { AnswerOf, BodyOf, FieldsOf } from "../api/client.ts";
import { useChange } from "../api/queries.ts";
import { ChoicesField, TextField } from "./fields.tsx";
import { SchemaBackedForm } from "./schema-backed-form.tsx";
import { useSendChanged } from "./use-send-changed.ts";

const EVENTS = WEBHOOK_EVENTS.map((value) => ({ value, label: value.replace("execution.", "") }));

const EventsField = () => (
  <ChoicesField name="events" label="Events" description="What the execution has become." options={EVENTS} />
);

interface CreateWebhookProps {
  /** Of the application, or `jobs`. */
  readonly applicationId: string;
  readonly onCreated: (webhook: AnswerOf<"createWebhook">) => void;
  readonly onCancel: () => void;
}

/** A URL that is told what becomes of executions. */
export function CreateWebhook({ applicationId, onCreated, onCancel }: CreateWebhookProps) {
  const create = useChange("createWebhook", { refresh: ["listWebhooks"] });
  return (
    <SchemaBackedForm<BodyOf<"createWebhook">>
      schema={WEBHOOKS_API.createWebhook.body}
      initial={{ url: "", events: ["execution.succeeded", "execution.failed", "execution.unknown"] }}
      submitLabel="Create"
      submit={(body) => create.run({ params: { id: applicationId }, body }).then(onCreated)}
      onCancel={onCancel}
    >
      <TextField
        name="url"
        label="URL"
        description="Left out, messages go to the URLs that starts name as webhookUrl."
        placeholder="https://example.org/hook"
        isMonospaced
        hasFocus
      />
      <EventsField />
    </SchemaBackedForm>
  );
}

interface ChangeWebhookProps {
  readonly applicationId: string;
  readonly webhook: Webhook;
  readonly close: () => void;
}

/** Another URL or other events; messages that wait go to the new URL. */
export function ChangeWebhook({ applicationId, webhook, close }: ChangeWebhookProps) {
  const { id, url } = webhook;
  const [begun] = useState(() => ({ ...(url === null ? {} : { url }), events: [...webhook.events] }));
  const sendChanged = useSendChanged(begun);
  const change = useChange("putWebhook", { done: "Changed.", refresh: ["listWebhooks"] });
  return (
    <SchemaBackedForm<FieldsOf<"putWebhook">>
      schema={WEBHOOKS_API.putWebhook.body}
      initial={begun}
      submitLabel="Change"
      submit={(body) =>
        sendChanged(body, (changed) =>
          change.run({ params: { id: applicationId, webhookId: id }, body: changed }),
        )
      }
      onDone={close}
      onCancel={close}
    >
      {url !== null && <TextField name="url" label="URL" isMonospaced hasFocus />}
      <EventsField />
    </SchemaBackedForm>
  );
}
