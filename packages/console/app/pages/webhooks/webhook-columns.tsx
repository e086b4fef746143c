import { Badge, Button, Group, Text } from "@mantine/core";
import type { Webhook } from "@platform/contract/platform-api/webhooks";
import type { AnswerOf } from "../../api/client.ts";
import { useChange } from "../../api/queries.ts";
import type { Column } from "../../table/data-table.tsx";
import { Can } from "../../ui/can.tsx";
import { ConfirmButton } from "../../ui/confirm.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import { OpenButton } from "../../ui/open-button.tsx";
import { Time } from "../../ui/time.tsx";
import { formatCount } from "../../util/units.ts";
import { useSetSearch } from "../../ui/dialog.tsx";

type OnSecret = (shown: AnswerOf<"rotateWebhookSecret">) => void;

/** The columns of the webhooks of an application. `onSecret`: gets a new secret, to show it once. */
export function createWebhookColumns(applicationId: string, onSecret: OnSecret): readonly Column<Webhook>[] {
  return [
    {
      id: "url",
      label: "URL",
      cell: ({ url }) =>
        url === null ? (
          <Text span inherit c="dimmed">
            those that starts name
          </Text>
        ) : (
          <span className="mono">{url}</span>
        ),
    },
    {
      id: "events",
      label: "Events",
      cell: ({ events }) => events.map((event) => event.replace("execution.", "")).join(", "),
      priority: 3,
    },
    { id: "state", label: "State", cell: (webhook) => <State of={webhook} /> },
    {
      id: "actions",
      label: "",
      align: "end",
      cell: (webhook) => <Actions of={webhook} applicationId={applicationId} onSecret={onSecret} />,
    },
  ];
}

function State({ of: { isPaused, waiting, formerSecretUntil } }: { readonly of: Webhook }) {
  return (
    <div>
      <Badge>{isPaused ? "Paused" : "Active"}</Badge>
      {waiting > 0 && (
        <Text fz="xs" c="dimmed">
          {formatCount(waiting)} {waiting === 1 ? "message waits" : "messages wait"}
        </Text>
      )}
      {formerSecretUntil !== null && (
        <Text fz="xs" c="dimmed">
          the former secret ends <Time at={formerSecretUntil} />
        </Text>
      )}
    </div>
  );
}

interface ActionsProps {
  readonly of: Webhook;
  readonly applicationId: string;
  readonly onSecret: OnSecret;
}

/** The URL of starts is none of its own: it has nothing to change or to delete. */
function Actions({ of: webhook, applicationId, onSecret }: ActionsProps) {
  const { id: webhookId, url, isPaused } = webhook;
  const params = { id: applicationId, webhookId };
  const setSearch = useSetSearch();
  const put = useChange("putWebhook", { refresh: ["listWebhooks"] });
  const test = useChange("testWebhook", {
    done: "A test message is on its way.",
    refresh: ["listWebhooks", "listWebhookDeliveries"],
  });
  const rotate = useChange("rotateWebhookSecret", { refresh: ["listWebhooks"] });
  return (
    <Group gap={6} justify="flex-end">
      <Button
        variant="default"
        size="compact-sm"
        aria-haspopup="dialog"
        onClick={() => setSearch({ messages: webhookId }, "push")}
      >
        Messages
      </Button>
      {url !== null && (
        <>
          <Can op="testWebhook">
            <Button
              variant="default"
              size="compact-sm"
              loading={test.isRunning}
              onClick={() => void test.run({ params }).catch(notifyFailure)}
            >
              Test
            </Button>
          </Can>
          <OpenButton op="putWebhook" set={{ webhook: webhookId }} variant="default" size="compact-sm">
            Change
          </OpenButton>
        </>
      )}
      <Can op="putWebhook">
        <Button
          variant="default"
          size="compact-sm"
          loading={put.isRunning}
          onClick={() => void put.run({ params, body: { isPaused: !isPaused } }).catch(notifyFailure)}
        >
          {isPaused ? "Resume" : "Pause"}
        </Button>
      </Can>
      <ConfirmButton
        op="rotateWebhookSecret"
        label="New secret"
        question="Give the webhook a new secret?"
        button={{ size: "compact-sm" }}
        run={() => rotate.run({ params, body: {} }).then(onSecret)}
      >
        For 24 hours messages are signed with the former one as well, so that the receiver can change over.
      </ConfirmButton>
      {url !== null && <Delete params={params} />}
    </Group>
  );
}

function Delete({ params }: { readonly params: { readonly id: string; readonly webhookId: string } }) {
  const remove = useChange("deleteWebhook", { done: "Webhook deleted.", refresh: ["listWebhooks"] });
  return (
    <ConfirmButton
      op="deleteWebhook"
      label="Delete"
      question="Delete the webhook?"
      button={{ size: "compact-sm" }}
      run={() => remove.run({ params })}
    >
      With the messages that wait, and the list of what was sent.
    </ConfirmButton>
  );
}
