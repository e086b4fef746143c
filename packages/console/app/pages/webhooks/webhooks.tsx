import { Group, Text, Title } from "@mantine/core";
import { useSearch } from "@tanstack/react-router";
import { useState } from "react";
import type { ReactNode } from "react";
import type { Webhook } from "@platform/contract/platform-api/webhooks";
import type { AnswerOf } from "../../api/client.ts";
import { pages, REFRESH_MS, useLoadedPages } from "../../api/queries.ts";
import { ChangeWebhook, CreateWebhook } from "../../forms/set-webhook.tsx";
import { DataTable } from "../../table/data-table.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { RoutedDialog } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { OpenButton } from "../../ui/open-button.tsx";
import { SecretOnce } from "../../ui/secret-once.tsx";
import { Deliveries } from "./deliveries.tsx";
import { createWebhookColumns } from "./webhook-columns.tsx";

type Shown = AnswerOf<"createWebhook">;

interface WebhooksProps {
  /** Of the application, or `jobs`. */
  readonly applicationId: string;
  /** Which executions they are told of. */
  readonly children: ReactNode;
}

/** The webhooks of an application, or of the jobs of the organisation. A secret is held by this part alone, until its dialog closes. */
export function Webhooks({ applicationId, children }: WebhooksProps) {
  const webhooks = useLoadedPages(pages("listWebhooks", { params: { id: applicationId } }), {
    refresh: REFRESH_MS.list,
  });
  const [shown, setShown] = useState<Shown | null>(null);
  return (
    <section>
      <Group justify="space-between" mb={4}>
        <Title order={2} fz="lg">
          Webhooks
        </Title>
        <Group gap="xs">
          <CopyAs
            op="listWebhooks"
            request={{ params: { id: applicationId } }}
            command={`platform webhooks ls ${applicationId}`}
            size="xs"
          />
          <OpenButton op="createWebhook" set={{ new: "webhook" }} size="xs">
            New webhook
          </OpenButton>
        </Group>
      </Group>
      <Text c="dimmed" mb="sm">
        {children}
      </Text>
      <DataTable
        label="Webhooks"
        columns={createWebhookColumns(applicationId, setShown)}
        rows={webhooks}
        rowKey={({ id }) => id}
        empty={
          <EmptyState title="No webhooks" command={`platform webhooks create ${applicationId} URL`}>
            A URL of yours that is told when an execution ends, in signed messages, so that nothing has to ask
            for its state.
          </EmptyState>
        }
      />
      <RoutedDialog title="New webhook" when={["new", "webhook"]}>
        {(close) => (
          <CreateWebhook
            applicationId={applicationId}
            onCancel={close}
            onCreated={(webhook) => {
              close();
              setShown(webhook);
            }}
          />
        )}
      </RoutedDialog>
      <OpenedWebhook applicationId={applicationId} webhooks={webhooks.items} />
      <SecretOnce
        title="The secret of the webhook"
        secrets={shown && [{ label: "Secret", variable: "WEBHOOK_SECRET", value: shown.secret }]}
        onClose={() => setShown(null)}
      />
    </section>
  );
}

interface OpenedWebhookProps {
  readonly applicationId: string;
  readonly webhooks: readonly Webhook[];
}

/** The dialogs of one webhook, which the URL names. */
function OpenedWebhook({ applicationId, webhooks }: OpenedWebhookProps) {
  const { webhook: chosen, messages }: { readonly webhook?: string; readonly messages?: string } = useSearch({
    strict: false,
  });
  const changing = webhooks.find(({ id }) => id === chosen);
  const followed = webhooks.find(({ id }) => id === messages);
  return (
    <>
      {changing !== undefined && (
        <RoutedDialog title="Change the webhook" when={["webhook", changing.id]}>
          {(close) => <ChangeWebhook applicationId={applicationId} webhook={changing} close={close} />}
        </RoutedDialog>
      )}
      {followed !== undefined && (
        <RoutedDialog title="Messages of the last seven days" when={["messages", followed.id]} width={860}>
          {() => <Deliveries applicationId={applicationId} webhookId={followed.id} />}
        </RoutedDialog>
      )}
    </>
  );
}
