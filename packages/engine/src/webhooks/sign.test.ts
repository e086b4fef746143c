import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { createWebhookSecret, signMessage } from "./sign.ts";

const BODY = '{"type":"execution.succeeded","data":{"name":"Köln"}}';

function sign(secrets: readonly string[]) {
  return signMessage(secrets, { id: "msg_1", timestamp: Math.floor(Date.now() / 1_000), body: BODY });
}

test("receivers that use the library of the specification accept a message, by either secret while both are signed with", () => {
  const [old, now] = [createWebhookSecret(), createWebhookSecret()];
  const headers = sign([now, old]);
  for (const secret of [old, now])
    expect(new Webhook(secret).verify(BODY, { ...headers })).toEqual(JSON.parse(BODY));
});

test("they refuse another body, id or secret", () => {
  const secret = createWebhookSecret();
  const headers = { ...sign([secret]) };
  expect(() => new Webhook(secret).verify(`${BODY} `, headers)).toThrow("No matching signature found");
  expect(() => new Webhook(secret).verify(BODY, { ...headers, "webhook-id": "msg_2" })).toThrow(
    "No matching signature found",
  );
  expect(() => new Webhook(createWebhookSecret()).verify(BODY, headers)).toThrow(
    "No matching signature found",
  );
});
