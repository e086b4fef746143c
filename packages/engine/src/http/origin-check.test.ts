import { expect, test } from "vitest";
import { refuseOtherOrigins } from "./origin-check.ts";

const HOST = "localhost:8081";

test.each([
  ["a program", "POST", {}],
  ["its own page", "POST", { origin: "http://localhost:8081", "sec-fetch-site": "same-origin" }],
  ["its own page in a browser without fetch metadata", "PUT", { origin: "http://LOCALHOST:8081" }],
  [
    "a page whose development server passes it on",
    "POST",
    { origin: "http://localhost:3000", "sec-fetch-site": "same-origin" },
  ],
  ["another page that reads", "GET", { origin: "http://evil.example", "sec-fetch-site": "cross-site" }],
])("a request of %s is let in", async (_of, method, headers) => {
  await expect(refuseOtherOrigins({ method, headers: { host: HOST, ...headers } })).resolves.toBeUndefined();
});

test.each([
  ["another site", "POST", { origin: "http://evil.example", "sec-fetch-site": "cross-site" }],
  [
    "another site that names our origin",
    "POST",
    { origin: "http://localhost:8081", "sec-fetch-site": "cross-site" },
  ],
  ["another port of this machine", "PUT", { origin: "http://localhost:3000", "sec-fetch-site": "same-site" }],
  ["another site in a browser without fetch metadata", "POST", { origin: "http://evil.example" }],
  ["a page in a sandbox", "DELETE", { origin: "null" }],
  ["another scheme", "POST", { origin: "https://localhost:8081" }],
])("a request of %s is refused", async (_of, method, headers) => {
  await expect(refuseOtherOrigins({ method, headers: { host: HOST, ...headers } })).rejects.toMatchObject({
    code: "FORBIDDEN",
    message: expect.stringContaining("another origin"),
  });
});
