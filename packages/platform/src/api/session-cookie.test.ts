import { describe, expect, test } from "vitest";
import { PROOF, getMe, send } from "../testing/browser.ts";
import { createTestUser } from "../testing/fixtures.ts";
import { useBrowser } from "../testing/browser-scene.ts";
import { TEST_API_URL } from "../testing/instance.ts";

const scene = useBrowser();
const { signIn, startSession } = scene;

describe("a request with the cookie", () => {
  const same = { "sec-fetch-site": "same-origin" };
  const asked = { "x-requested-by": "console" };
  const own = { origin: TEST_API_URL };

  test.each([
    ["PUT", "by the console, as a browser says", { ...asked, ...same }, 200],
    ["PUT", "by a page of the API's origin, in a browser that says no more", { ...asked, ...own }, 200],
    ["GET", "for reading, in a browser that says nothing", asked, 200],
    ["PUT", "for changing, in a browser that says nothing", asked, 403],
    ["PUT", "without the console's header", { ...same, ...own }, 403],
    ["GET", "for reading, without the console's header", same, 403],
    ["PUT", "with another value of that header", { "x-requested-by": "fetch", ...same }, 403],
    ["PUT", "by a page of another site", { ...asked, "sec-fetch-site": "cross-site", ...own }, 403],
    ["PUT", "by a page of the gateway, the same host", { ...asked, "sec-fetch-site": "same-site" }, 403],
    ["PUT", "typed into the address bar", { ...asked, "sec-fetch-site": "none" }, 403],
    ["PUT", "by a page of another origin", { ...asked, origin: "http://api.test:8080" }, 403],
    ["GET", "for reading, by a page of another origin", { ...asked, origin: "https://api.test:8090" }, 403],
    ["PUT", "by a page without an origin", { ...asked, origin: "null" }, 403],
  ] as const)("%s %s is answered %s", async (method, _what, headers, status) => {
    const cookie = await startSession();
    const body = method === "PUT" ? { payload: { name: "Ada" } } : {};
    const response = await send(scene.here, method, "/me", { headers: { cookie, ...headers }, ...body });
    expect(response.statusCode).toBe(status);
    expect(response.json()).toMatchObject(
      status === 403 ? { code: "FORBIDDEN" } : { email: scene.user.email },
    );
  });

  test.each(["application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x"])(
    "and a body that a form can send (%s) is refused",
    async (type) => {
      const headers = { cookie: await startSession(), ...PROOF, "content-type": type };
      for (const url of ["/me", "/me/password"])
        expect((await send(scene.here, "PUT", url, { headers, payload: '{"name":"Eve"}' })).statusCode).toBe(
          415,
        );
    },
  );

  test("by a link of the console gets what browsers save as a file, in the organisation of the link, and nothing else", async () => {
    const { here, user } = scene;
    const bearer = { authorization: `Bearer ${user.token}` };
    const organisation = (
      await send(here, "POST", "/organizations", { headers: bearer, payload: { name: "Second" } })
    ).json<{ id: string }>();
    const inSecond = { ...bearer, "x-organizationid": organisation.id };
    const { id } = (
      await send(here, "POST", "/data-pools", { headers: inSecond, payload: { name: "Maps" } })
    ).json<{ id: string }>();
    const stored = await send(here, "PUT", `/data-pools/${id}/files/a.html`, {
      headers: { ...inSecond, "content-type": "text/html" },
      payload: "<p>",
    });
    const file = `/data-pools/${id}/files/${stored.json<{ fileId: string }>().fileId}`;
    const cookie = await startSession();
    const link = `organizationId=${organisation.id}`;
    const ask = async (path: string, headers: Readonly<Record<string, string>>) =>
      await send(here, "GET", path, { headers: { cookie, ...headers } });

    const linked = { ...same, "sec-fetch-dest": "empty" };
    const saved = await ask(`${file}/content?${link}`, linked);
    expect([saved.statusCode, saved.body]).toEqual([200, "<p>"]);
    expect(saved.headers["content-disposition"]).toMatch(/^attachment/u);
    expect((await ask(`${file}/content`, linked)).statusCode).toBe(404);
    expect((await ask(`${file}/content?${link}&${link}`, linked)).statusCode).toBe(400);
    const foreign = `organizationId=${(await createTestUser(here)).organisationId}`;
    expect((await ask(`${file}/content?${foreign}`, linked)).statusCode).toBe(403);
    for (const headers of [
      {},
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "none" },
      { "sec-fetch-site": "cross-site", ...own },
    ])
      expect(
        (await ask(`${file}/content?${link}`, { "sec-fetch-dest": "empty", ...headers })).statusCode,
      ).toBe(403);
    // As a part of a page it would run, or be shown, in the console.
    for (const part of [
      "script",
      "style",
      "worker",
      "serviceworker",
      "iframe",
      "image",
      "object",
      undefined,
    ]) {
      const headers = { ...same, ...(part === undefined ? {} : { "sec-fetch-dest": part }) };
      expect([part, (await ask(`${file}/content?${link}`, headers)).statusCode]).toEqual([part, 403]);
    }
    const opened = await ask(`${file}/content?${link}`, { ...same, "sec-fetch-dest": "document" });
    expect(opened.statusCode).toBe(200);
    // What is no file needs the header, and takes the organisation from a header only.
    expect((await ask(`${file}?${link}`, linked)).statusCode).toBe(403);
    expect((await ask(`${file}?${link}`, { ...same, ...asked })).statusCode).toBe(404);
    expect((await send(here, "GET", `${file}/content?${link}`, { headers: bearer })).statusCode).toBe(404);
  });

  test("and a token as well is refused", async () => {
    const cookie = await startSession();
    for (const header of [
      { authorization: `Bearer ${scene.user.token}` },
      { "x-auth-token": scene.user.token },
    ]) {
      const response = await getMe(scene.here, cookie, { ...PROOF, ...header });
      expect([response.statusCode, response.json()]).toMatchObject([401, { code: "UNAUTHENTICATED" }]);
      expect(response.body).toContain("both");
    }
  });

  test("of which there are two is refused: one may come from another host of the domain", async () => {
    const cookie = await startSession();
    const planted = `platform_session=${"A".repeat(43)}`;
    for (const both of [`${planted}; ${cookie}`, `${cookie}; ${planted}`]) {
      const response = await getMe(scene.here, both);
      // A page that took it for the end of the session would show the sign-in page, and the session would go on.
      expect([response.statusCode, response.json()]).toMatchObject([400, { code: "INVALID_INPUT" }]);
      expect(response.body).toContain("several cookies");
    }
  });

  test("is answered without permission for pages of other origins to read it", async () => {
    const headers = { origin: "https://evil.example", "access-control-request-method": "PUT" };
    const preflight = await scene.here.api.inject({ method: "OPTIONS", url: "/api/me", headers });
    expect(preflight.statusCode).toBe(405);
    const response = await getMe(scene.here, await startSession());
    for (const { headers: given } of [preflight, response])
      expect(Object.keys(given).filter((name) => name.startsWith("access-control"))).toEqual([]);
  });

  test.each([
    ["signing in without the console's header", same],
    ["signing in from another site", { ...asked, "sec-fetch-site": "cross-site" }],
  ])("%s is refused: another page must not choose who its reader is", async (_what, headers) => {
    expect((await signIn(scene.user.email, { headers })).json()).toMatchObject({ code: "FORBIDDEN" });
  });
});
