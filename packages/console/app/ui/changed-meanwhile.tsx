import { Alert, Button, Group, Text } from "@mantine/core";

interface ChangedMeanwhileProps {
  /** Shows what is there now; what was entered is thrown away. */
  readonly show: () => void;
  /** Lets what was entered replace it. */
  readonly replace: () => void;
}

/** Above a form that was begun from what somebody else has changed meanwhile: it is not replaced before that is known. */
export function ChangedMeanwhile({ show, replace }: ChangedMeanwhileProps) {
  return (
    <Alert variant="light" title="Changed since you opened it">
      <Text fz="sm" mb="xs">
        Somebody else has saved meanwhile. What you have entered is kept here, and replaces theirs only if you
        say so.
      </Text>
      <Group gap="xs">
        <Button size="xs" variant="default" onClick={show}>
          Show theirs
        </Button>
        <Button size="xs" variant="default" onClick={replace}>
          Let mine replace it
        </Button>
      </Group>
    </Alert>
  );
}
