/** What an application of the user has of webhooks, and how more is made. */
interface WebhookScene {
  readonly id: string;
  readonly post: (path: string, body?: unknown) => Promise<void>;
  readonly list: () => Promise<{ readonly items: readonly { readonly id: string }[] } | null>;
}

const URL = "https://example.org/";

/** How the rows of the bounds of webhooks are made (bounds.test.ts). */
export function createGrowingWebhooks(open: () => Promise<WebhookScene>) {
  return {
    webhooks: {
      parent: "application where id = $1",
      prepare: async () => {
        const { id, post } = await open();
        return { parentId: id, make: () => post(`/applications/${id}/webhooks`, { url: URL }) };
      },
      fill: `insert into webhook (id, application_id, organisation_id, url, events, secret, key_id, created_by)
        select gen_random_uuid(), $1, (select organisation_id from application where id = $1), '${URL}', '{execution.failed}', 'sealed', 'test', $3::uuid from generate_series(1, $2)`,
    },
    webhookTests: {
      parent: "webhook where id = $1",
      prepare: async () => {
        const { id, post, list } = await open();
        const path = `/applications/${id}/webhooks`;
        await post(path, { url: URL });
        const parentId = (await list())?.items[0]?.id ?? "";
        return { parentId, make: () => post(`${path}/${parentId}/test`) };
      },
      fill: `insert into webhook_delivery (id, webhook_id, event, body)
        select gen_random_uuid(), $1, 'test', '{}' from generate_series(1, $2) where $3::text <> ''`,
    },
  };
}
