import { Button, Divider, Text } from "@mantine/core";
import { useChange } from "../../api/queries.ts";
import { notifyFailure } from "../../ui/notify.ts";
import { hasToken, keepNext } from "../../util/own-path.ts";

interface ExternalSignInProps {
  /** What people call it. */
  readonly provider: string;
  readonly next: string | undefined;
}

/** Sends the browser to the identity provider, which sends it back to /sign-in/callback. */
export function ExternalSignIn({ provider, next }: ExternalSignInProps) {
  const start = useChange("startExternalSignIn", { refresh: [] });
  const leave = async () => {
    const { url } = await start.run({});
    keepNext(next);
    globalThis.location.assign(url);
  };
  return (
    <>
      <Button
        fullWidth
        variant="default"
        loading={start.isRunning}
        onClick={() => void leave().catch(notifyFailure)}
      >
        Sign in with {provider}
      </Button>
      {hasToken(next) && (
        <Text fz="sm" c="dimmed" mt="xs">
          Then open the link once more: it is kept nowhere meanwhile.
        </Text>
      )}
      <Divider my="lg" label="or" />
    </>
  );
}
