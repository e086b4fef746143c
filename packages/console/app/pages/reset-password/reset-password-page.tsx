import { Text } from "@mantine/core";
import { getRouteApi, useRouter } from "@tanstack/react-router";
import { q, useLoaded } from "../../api/queries.ts";
import { useScope } from "../../api/scope.tsx";
import { SetNewPassword } from "../../forms/set-new-password.tsx";
import { Entrance } from "../../shell/entrance.tsx";
import { AppLink } from "../../ui/link.tsx";

const route = getRouteApi("/reset-password/$token");

/** Sets a new password with a link, once. */
export function ResetPasswordPage() {
  const { productName } = useLoaded(q("getConfiguration", {}));
  const { queries } = useScope();
  const { token } = route.useParams();
  const router = useRouter();
  const leave = async () => {
    queries.clear();
    // In the place of this page: Back does not lead to the used link.
    await router.navigate({ to: "/sign-in", search: {}, replace: true });
  };
  return (
    <Entrance title="Set a new password" product={productName}>
      <SetNewPassword token={token} onDone={leave} />
      <Text fz="sm" mt="lg">
        <AppLink to="/sign-in" replace>
          Back to signing in
        </AppLink>
      </Text>
    </Entrance>
  );
}
