import type { NotificationData } from "@mantine/notifications";
import { explainError } from "../api/explain-error.ts";

const DONE_MS = 5_000;

/** Says that something was done; goes away by itself. */
export function notifyDone(message: string): void {
  show({ message, color: "teal", autoClose: DONE_MS, role: "status" });
}

/** Says what failed outside of a form; stays until it is closed. */
export function notifyFailure(error: unknown): void {
  const { title, detail, code, requestId } = explainError(error);
  const ids = [code, requestId].filter((id) => id !== undefined).join(", ");
  notifyFault(title, ids === "" ? detail : `${detail} (${ids})`);
}

/** The same of what is no answer to a request. */
export function notifyFault(title: string, message: string): void {
  show({ title, message, color: "red", autoClose: false, role: "alert" });
}

/** Loaded with the first message (ui/toasts.tsx): it is nothing that a first page needs. */
function show(message: NotificationData): void {
  void import("./toasts.tsx").then(({ showToast }) => showToast(message));
}
