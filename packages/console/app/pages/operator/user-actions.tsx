import { Group } from "@mantine/core";
import type { AnswerOf, ItemOf } from "../../api/client.ts";
import { useChange } from "../../api/queries.ts";
import { useMe } from "../../api/scope.tsx";
import { ConfirmButton } from "../../ui/confirm.tsx";

interface UserActionsProps {
  readonly of: ItemOf<"listUsers">;
  /** Gets the link, which is shown once. */
  readonly onLink: (link: AnswerOf<"createResetLink">) => void;
}

/** What operators do with a user. They cannot disable themselves. */
export function UserActions({ of: { id, email, disabledAt }, onLink }: UserActionsProps) {
  const me = useMe();
  const isDisabled = disabledAt !== null;
  const change = useChange("putUser", {
    done: isDisabled ? "Enabled." : "Disabled.",
    refresh: ["listUsers"],
  });
  const issue = useChange("createResetLink", { refresh: [] });
  const put = (disabled: boolean) => change.run({ params: { userId: id }, body: { disabled } });
  return (
    <Group gap={6} justify="flex-end">
      {!isDisabled && (
        <ConfirmButton
          op="createResetLink"
          label="Reset link"
          question={`Make a link with which ${email} sets a new password?`}
          button={{ size: "compact-sm" }}
          run={async () => onLink(await issue.run({ params: { userId: id } }))}
        >
          It works once and for an hour, and ends former ones. Whoever has it sets the password: give it to
          nobody else.
        </ConfirmButton>
      )}
      {isDisabled && (
        <ConfirmButton
          op="putUser"
          label="Enable"
          question={`Enable ${email} again?`}
          button={{ size: "compact-sm" }}
          run={() => put(false)}
        >
          The user can sign in again. Sessions and tokens that ended stay ended.
        </ConfirmButton>
      )}
      {!isDisabled && email !== me.email && (
        <ConfirmButton
          op="putUser"
          label="Disable"
          question={`Disable ${email}?`}
          button={{ size: "compact-sm" }}
          run={() => put(true)}
        >
          Sessions, personal access tokens and open links of the user end for good. Nothing of their
          organisations ends: access keys, schedules, and what runs.
        </ConfirmButton>
      )}
    </Group>
  );
}
