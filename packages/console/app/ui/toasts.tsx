import { Notifications, notifications } from "@mantine/notifications";
import type { NotificationData } from "@mantine/notifications";

/** Where messages are shown. */
export function Toasts() {
  return <Notifications position="bottom-right" limit={4} />;
}

/** Shows a message; where the place is not there yet, it is shown as soon as it is. */
export function showToast(message: NotificationData): void {
  notifications.show({ ...message, closeButtonProps: { "aria-label": "Close the message" } });
}
