import { Button, Menu } from "@mantine/core";
import type { Service } from "@platform/contract/platform-api/services";
import { useChange } from "../../api/queries.ts";
import { Can, useRefusal } from "../../ui/can.tsx";
import { ConfirmButton } from "../../ui/confirm.tsx";
import { notifyFailure } from "../../ui/notify.ts";

/** Who can subscribe: changed at once, taken back after a question. */
export function Publish({ service: { key, name, publication } }: { readonly service: Service }) {
  const refusal = useRefusal("publishService");
  const refresh = ["getService", "listServices"] as const;
  const publish = useChange("publishService", { done: "Published.", refresh });
  const withdraw = useChange("unpublishService", { done: "Withdrawn.", refresh });
  const offer = (scope: "internal" | "marketplace") =>
    void publish.run({ params: { key }, body: { scope } }).catch(notifyFailure);
  return (
    <>
      {publication !== null && (
        <ConfirmButton
          op="unpublishService"
          label="Withdraw"
          question={`Withdraw ${name}?`}
          run={() => withdraw.run({ params: { key } })}
        >
          No application can subscribe to it any more. Subscriptions that are there keep working until they
          are ended.
        </ConfirmButton>
      )}
      {refusal === null ? (
        <Menu position="bottom-end" withinPortal>
          <Menu.Target>
            <Button variant="default" loading={publish.isRunning}>
              Publish
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item disabled={publication === "internal"} onClick={() => offer("internal")}>
              For this organisation
            </Menu.Item>
            <Menu.Item disabled={publication === "marketplace"} onClick={() => offer("marketplace")}>
              In the marketplace
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      ) : (
        <Can op="publishService">
          <Button variant="default">Publish</Button>
        </Can>
      )}
    </>
  );
}
