import { Text } from "@mantine/core";
import { useState } from "react";
import { q, useLoaded } from "../../api/queries.ts";
import { RequestPasswordReset } from "../../forms/request-password-reset.tsx";
import { Entrance } from "../../shell/entrance.tsx";
import { AppLink } from "../../ui/link.tsx";

/** Asks for a link that sets a new password. What it says is the same whether there is such a user or not. */
export function RequestPage() {
  const { productName, mail } = useLoaded(q("getConfiguration", {}));
  const [isAsked, setIsAsked] = useState(false);
  return (
    <Entrance title="Forgotten password" product={productName}>
      {!mail && (
        <Text>
          This platform sends no mail. Its operators can make you a link with which you set a new password.
        </Text>
      )}
      {mail && isAsked && (
        <Text role="status">
          If there is an account with this address, a link is on its way to it. It works once, for an hour.
        </Text>
      )}
      {mail && !isAsked && <RequestPasswordReset onDone={() => setIsAsked(true)} />}
      <Text fz="sm" mt="lg">
        <AppLink to="/sign-in">Back to signing in</AppLink>
      </Text>
    </Entrance>
  );
}
