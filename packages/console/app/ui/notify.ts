import { notifications } from "@mantine/notifications";
import { explainError } from "../api/explain-error.ts";

const DONE_MS = 5_000;

/** Says that something was done; goes away by itself. */
export function notifyDone(message: string): void {
  notifications.show({ message, color: "teal", autoClose: DONE_MS, role: "status" });
}

/** Says what failed outside of a form; stays until it is closed. */
export function notifyFailure(error: unknown): void {
  const { title, detail, code, requestId } = explainError(error);
  const ids = [code, requestId].filter((id) => id !== undefined).join(", ");
  notifications.show({
    title,
    message: ids === "" ? detail : `${detail} (${ids})`,
    color: "red",
    autoClose: false,
    role: "alert",
  });
}
