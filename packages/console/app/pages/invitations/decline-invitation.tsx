import { getRouteApi } from "@tanstack/react-router";
import { useChange } from "../../api/queries.ts";
import { ConfirmButton } from "../../ui/confirm.tsx";

const route = getRouteApi("/invitations/$token");

interface DeclineInvitationProps {
  readonly organisationName: string;
  readonly onDeclined: () => void;
}

/** For whoever has the link, signed in or not. */
export function DeclineInvitation({ organisationName, onDeclined }: DeclineInvitationProps) {
  const { token } = route.useParams();
  const decline = useChange("declineInvitation", { refresh: ["listInvitations"] });
  const run = async () => {
    await decline.run({ params: { invitation: token } });
    onDeclined();
  };
  return (
    <ConfirmButton
      op="declineInvitation"
      label="Decline"
      question={`Decline the invitation to ${organisationName}?`}
      button={{ variant: "subtle", fullWidth: true, mt: "md" }}
      run={run}
    >
      Its link opens nothing from then on, and {organisationName} sees that it was declined. Whoever invited
      you can send another one.
    </ConfirmButton>
  );
}
