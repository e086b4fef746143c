import { Badge, Button, Stack, Text } from "@mantine/core";
import type { WebhookDelivery } from "@platform/contract/platform-api/webhooks";
import { q, REFRESH_MS, useChange, useFetched } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { Can } from "../../ui/can.tsx";
import { Failure } from "../../ui/failure.tsx";
import { AppLink } from "../../ui/link.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import { Time } from "../../ui/time.tsx";

interface DeliveriesProps {
  readonly applicationId: string;
  readonly webhookId: string;
}

/** So many are shown; the API has all. */
const SHOWN = 50;

/** The newest messages to a webhook, and what became of each. */
export function Deliveries({ applicationId, webhookId }: DeliveriesProps) {
  const { slug } = useOrganisation();
  const params = { id: applicationId, webhookId };
  const { data, error, retry } = useFetched(q("listWebhookDeliveries", { params, query: { limit: SHOWN } }), {
    refresh: ({ items }) =>
      items.some(({ status }) => status === "PENDING") ? REFRESH_MS.unfinished : REFRESH_MS.list,
  });
  if (error !== null) return <Failure error={error} retry={retry} />;
  if (data === undefined) return null;
  return (
    <Stack>
      <DataTable
        label="Messages"
        columns={createColumns(slug, params)}
        rows={data.items}
        rowKey={({ id }) => id}
        empty={<Text c="dimmed">Nothing was sent to it within seven days.</Text>}
      />
      {data.nextCursor !== null && (
        <Text fz="sm" c="dimmed">
          These are the newest {SHOWN}.
        </Text>
      )}
    </Stack>
  );
}

type Params = { readonly id: string; readonly webhookId: string };

function createColumns(org: string, params: Params): readonly Column<WebhookDelivery>[] {
  return [
    { id: "event", label: "Event", cell: ({ event }) => event.replace("execution.", "") },
    {
      id: "execution",
      label: "Execution",
      cell: ({ executionId }) =>
        executionId === null ? (
          "-"
        ) : (
          <AppLink to="/o/$org/executions/$id" params={{ org, id: executionId }} className="mono">
            {executionId.slice(0, 8)}
          </AppLink>
        ),
    },
    { id: "status", label: "State", cell: (delivery) => <State of={delivery} /> },
    { id: "created", label: "Created", cell: ({ createdAt }) => <Time at={createdAt} />, priority: 3 },
    { id: "actions", label: "", align: "end", cell: ({ id }) => <Again params={params} deliveryId={id} /> },
  ];
}

/** Why the last try failed: what the receiver has answered, or why there was no answer. */
function State({ of: { status, tries, nextAt, attempts } }: { readonly of: WebhookDelivery }) {
  const last = attempts.at(-1);
  const answer = last === undefined ? null : (last.failure ?? `answered ${last.status ?? "nothing"}`);
  return (
    <div>
      <Badge>{status.toLowerCase()}</Badge>
      <Text fz="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
        {tries} {tries === 1 ? "try" : "tries"}
        {answer === null ? "" : `, ${answer}`}
        {nextAt === null ? null : (
          <>
            , again <Time at={nextAt} />
          </>
        )}
      </Text>
    </div>
  );
}

function Again({ params, deliveryId }: { readonly params: Params; readonly deliveryId: string }) {
  const redeliver = useChange("redeliverWebhook", {
    done: "It is sent again.",
    refresh: ["listWebhookDeliveries", "listWebhooks"],
  });
  return (
    <Can op="redeliverWebhook">
      <Button
        variant="default"
        size="compact-sm"
        loading={redeliver.isRunning}
        onClick={() => void redeliver.run({ params: { ...params, deliveryId } }).catch(notifyFailure)}
      >
        Send again
      </Button>
    </Can>
  );
}
