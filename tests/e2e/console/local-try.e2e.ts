import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, request as requestByHand } from "node:http";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import type { Route } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startLocalServer } from "../../support/local-server.ts";
import type { LocalServer } from "../../support/local-server.ts";
import { createProject } from "../../support/world.ts";
import { findBarriers, findCutText } from "./support/axe.ts";
import { WIDTHS } from "./support/browser.ts";
import { openVisit } from "./support/open-console.ts";
import type { Visit } from "./support/open-console.ts";
import { readWhy } from "./support/read-why.ts";
import { IS_FULL_LENGTH } from "../../support/full-length.ts";

/* The page of `platform serve`, as the one who writes the service sees it: no platform runs. */

const PROGRAM = `
import logging
import os
import time
from dataclasses import dataclass
from pathlib import Path

logger = logging.getLogger(__name__)


@dataclass
class Data:
    number: int
    fails: bool = False
    seconds: int = 0
    letters: int = 0


def run(data: Data):
    logger.info("number %d", data.number)
    for second in range(data.seconds):
        logger.info("second %d", second + 1)
        time.sleep(1)
    if data.fails:
        raise ValueError("<script>document.title = 'hijacked'</script>")
    Path(os.environ["OUTPUT_DIRECTORY"], "tour.csv").write_text("a;b")
    if data.letters:
        return {"text": "x" * data.letters}
    return {"number": data.number, "half": 0.50, "html": "<img src=x onerror=alert(1)>"}
`;
const DIGITS = "12345678901234567890";
const UNTYPED = 'def run(data):\n    return {"was": data}\n';

let folder: string;
let project: string;
let server: LocalServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "platform-try-"));
  project = await createProject(join(folder, "numbered"), "numbered", PROGRAM, {
    "input/data.json": `{"number": ${DIGITS}}`,
  });
  server = await startLocalServer(project);
});
afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** A new window on the page, with what was read of the project. */
async function openPage(options: Parameters<typeof openVisit>[1] = {}): Promise<Visit> {
  const visit = await openVisit(server.url, options);
  await visit.page.goto(server.tryUrl);
  await visit.page.getByRole("heading", { level: 1, name: "Try numbered" }).waitFor();
  return visit;
}

const save = (program: string) => writeFile(join(project, "src/program.py"), program);
const button = ({ page }: Visit, name: string) => page.getByRole("button", { name, exact: true });
const run = (visit: Visit) => button(visit, "Run").click();
const whyNot = (visit: Visit, name: string) => readWhy(button(visit, name), name);

/** The server gets a request, and its answer never arrives. */
async function cut(route: Route): Promise<void> {
  await route.fetch();
  await route.abort();
}

/** Browsers note each refusal of a start as an error. */
const withoutRefusals = ({ complaints }: Visit) =>
  complaints.filter((words) => !words.includes("(Bad Request)"));

test("the example of the project runs as it stands: no digit is lost, and result, log and file come without a reload", async () => {
  const visit = await openPage();
  const { page } = visit;
  expect(await page.getByRole("textbox", { name: "number" }).inputValue()).toBe(DIGITS);
  const labels = ["Form", "JSON", "number *", "fails", "seconds", "letters"];
  expect(await page.locator("label").allInnerTexts()).toEqual(labels);
  expect(await page.getByRole("textbox", { name: "seconds" }).getAttribute("placeholder")).toBe("0");
  await page.getByRole("option", { name: "false (default)" }).waitFor({ state: "attached" });
  await page.getByText("Nothing was run yet").waitFor();
  expect(await whyNot(visit, "Example again")).toBe("The input is that of the example.");
  await page.getByRole("textbox", { name: "seconds" }).fill("5");
  await button(visit, "Run").press("Enter");
  // While it runs.
  await page.getByText("Running", { exact: true }).waitFor();
  await page.getByRole("log").getByText("second 1").waitFor();
  expect(await button(visit, "Run").evaluate((one) => one === document.activeElement)).toBe(true);
  const result = page.getByRole("region", { name: "Result" });
  expect(await result.innerText()).toContain(`"number": ${DIGITS},\n  "half": 0.5`);
  await page.getByText("Succeeded", { exact: true }).waitFor();
  await page.getByRole("log").getByText(`number ${DIGITS}`).waitFor();
  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: "tour.csv" }).click();
  expect((await download).suggestedFilename()).toBe("tour.csv");
  await page.getByRole("button", { name: "Example again" }).click();
  expect(await page.getByRole("textbox", { name: "seconds" }).inputValue()).toBe("");
  expect(visit.complaints).toEqual([]);
});

test("what does not fit is refused at its field, and what is no JSON cannot be run", async () => {
  const visit = await openPage();
  const { page } = visit;
  const number = page.getByRole("textbox", { name: "number" });
  await number.fill("many");
  await run(visit);
  await page.getByText("must be integer").waitFor();
  expect(await number.getAttribute("aria-invalid")).toBe("true");
  await expect.poll(() => number.evaluate((field) => field === document.activeElement)).toBe(true);
  await number.fill("7");
  await page.getByText("must be integer").waitFor({ state: "detached" });
  await page.getByText("JSON", { exact: true }).click();
  const input = page.getByRole("textbox", { name: "Input" });
  await input.fill("{");
  expect(await whyNot(visit, "Run")).toContain("JSON");
  await input.fill('{"more": 1}');
  await page.getByText('There is no field for "more", so it is shown as JSON.').waitFor();
  expect(await page.getByRole("radio", { name: "Form" }).isDisabled()).toBe(true);
  await input.fill("{}");
  await page.getByText("Form", { exact: true }).click();
  await number.waitFor();
  expect(withoutRefusals(visit)).toEqual([]);
});

test("a failure has its code, what the code has said, what to do, and the log; what runs can be cancelled", async () => {
  const visit = await openPage();
  const { page } = visit;
  await page.getByRole("combobox", { name: "fails" }).selectOption("true");
  await run(visit);
  const alert = page.getByRole("alert");
  await alert.getByText("EXECUTION_ERROR", { exact: true }).waitFor();
  expect(await alert.innerText()).toMatch(
    /<script>document\.title[^]*What to do: The log has the traceback/u,
  );
  await page.getByRole("log").getByText("Traceback").waitFor();
  expect(await page.title()).toBe("Try numbered · Platform");
  await page.getByRole("textbox", { name: "seconds" }).fill("600");
  await run(visit);
  await page.getByRole("log").getByText("second 1").waitFor();
  expect(await whyNot(visit, "Run")).toBe("The last one still runs: wait for its end, or cancel it.");
  await page.getByRole("button", { name: "Cancel" }).click();
  await alert.getByText("CANCELLED", { exact: true }).waitFor();
  expect(visit.complaints).toEqual([]);
});

test(
  "what runs goes on when the page is loaded again, and a start whose answer was cut off is no second one",
  { tags: "full" },
  async () => {
    const visit = await openPage();
    const { page } = visit;
    const list = async () => (await (await fetch(`${server.url}/?limit=100`)).json()) as readonly unknown[];
    const before = await list();
    await page.getByRole("textbox", { name: "seconds" }).fill("3");
    await page.route(`${server.url}/`, cut, { times: 1 });
    await run(visit);
    await page.getByRole("alert").waitFor();
    await run(visit);
    const log = page.getByRole("log");
    await log.getByText("second 1").waitFor();
    expect(await list()).toHaveLength(before.length + 1);
    const id = page.getByText(/^[0-9a-f]{8}-[0-9a-f-]{27}$/u);
    const started = await id.innerText();
    await page.reload();
    await log.getByText("second 1").waitFor();
    await log.getByText("second 3").waitFor();
    await page.getByRole("region", { name: "Result" }).waitFor();
    expect(await id.innerText()).toBe(started);
  },
);

test(
  "a result that is too large to be shown is downloaded, with all that the server answers",
  { tags: "full" },
  async () => {
    const visit = await openPage();
    const { page } = visit;
    await page.getByRole("textbox", { name: "letters" }).fill("2000000");
    await run(visit);
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "download it" }).click();
    const saved: unknown = JSON.parse(await readFile(await (await download).path(), "utf8"));
    expect(saved).toMatchObject({ text: "x".repeat(2_000_000) });
    expect(visit.complaints).toEqual([]);
  },
);

test(
  "a server that refuses says why, and one that is away is waited for: the page goes on without a reload",
  { tags: "full" },
  async () => {
    const first = await startLocalServer(project, "--fault", "429@100%");
    const { page, complaints } = await openVisit(first.url);
    await page.goto(first.tryUrl);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("alert").getByText("RATE_LIMITED").waitFor();
    await first.stop();
    await page.getByText("The server does not answer").waitFor();
    const again = await startLocalServer(project, "--port", new URL(first.url).port);
    try {
      await page.getByText("The server does not answer").waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Run", exact: true }).click();
      await page.getByRole("region", { name: "Result" }).waitFor();
    } finally {
      await again.stop();
    }
    const expected = /\(Too Many Requests\)|net::ERR_/u;
    expect(complaints.filter((words) => !expected.test(words))).toEqual([]);
  },
);

test("the programs that are copied print the same result", async () => {
  const visit = await openPage();
  const { page } = visit;
  // Pages may not read the clipboard.
  const copy = async (language: string, what: string) => {
    await page.getByRole("tab", { name: language }).click();
    await page.getByRole("button", { name: `Copy ${what}` }).click();
    await page.getByRole("button", { name: `Copied ${what}` }).waitFor();
    return (await page.getByRole("region", { name: what }).textContent()) ?? "";
  };
  const shell = await promisify(execFile)("sh", ["-c", await copy("curl", "curl commands")]);
  const python = await promisify(execFile)("python3", ["-c", await copy("Python", "Python program")]);
  for (const { stdout } of [shell, python]) expect(stdout).toContain(`{"number":${DIGITS},"half":0.5`);
  expect(visit.complaints).toEqual([]);
});

test("an edit is on the page as soon as it is served, whether it is right or not", async () => {
  const visit = await openPage({ width: WIDTHS.narrow });
  const { page } = visit;
  const look = async () => [...(await findBarriers(page)), ...(await findCutText(page))];
  try {
    await save(
      PROGRAM.replace("    seconds:", "    label: str\n    seconds:").replace(
        "label: str",
        'label: str = "x"',
      ),
    );
    await page.getByRole("textbox", { name: "label" }).waitFor();
    await save("import nothing_of_this_name\n");
    const broken = page.getByRole("alert").filter({ hasText: "The code cannot be loaded" });
    await broken
      .getByRole("region", { name: "Traceback" })
      .getByText("nothing_of_this_name")
      .first()
      .waitFor();
    const seen = await broken.getByRole("region", { name: "Traceback" }).boundingBox();
    expect((seen?.x ?? WIDTHS.narrow) + (seen?.width ?? 0)).toBeLessThan(WIDTHS.narrow - 16);
    expect(await look()).toEqual([]);
    expect(await page.getByRole("textbox", { name: "label" }).isVisible()).toBe(true);
    await save(UNTYPED);
    await page.getByText("run has no type hints, so any object is taken").waitFor();
    expect(await look()).toEqual([]);
    expect(await page.getByText("Form", { exact: true }).count()).toBe(0);
    await run(visit);
    await page.getByRole("region", { name: "Result" }).getByText(DIGITS).waitFor();
    await writeFile(join(project, "requirements.txt"), "six ==\n");
    await page.getByText("The last edit is not served").waitFor();
  } finally {
    await writeFile(join(project, "requirements.txt"), "");
    await save(PROGRAM);
  }
  await page.getByRole("textbox", { name: "number" }).waitFor();
  expect(visit.complaints).toEqual([]);
});

/** Sends what `fetch` would not let one send. */
async function send(method: string, path: string, headers: Readonly<Record<string, string>>, body = "") {
  const sent = requestByHand(`${server.url}${path}`, { method, headers, agent: false }).end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return { status: response.statusCode, body: await text(response) };
}

const countExecutions = async () => ((await (await fetch(`${server.url}/`)).json()) as unknown[]).length;

test("a page of another origin starts nothing, reads nothing, and shows the page in no frame", async () => {
  const before = await countExecutions();
  const other = createServer((_request, response) =>
    response.writeHead(200, { "content-type": "text/html" }).end("<h1>other</h1>"),
  ).listen(0, "127.0.0.1");
  await once(other, "listening");
  const { context, page } = await openVisit(server.url);
  try {
    await page.goto(`http://localhost:${(other.address() as AddressInfo).port}/`);
    const seen = await page.evaluate(async (url) => {
      const tried = async (init: RequestInit, path = "/") => {
        try {
          const response = await fetch(`${url}${path}`, init);
          return `${response.type} ${await response.text()}`;
        } catch (error) {
          return String(error);
        }
      };
      const body = '{"data": {"number": 1}}';
      const json = { "content-type": "application/json" };
      navigator.sendBeacon(`${url}/`, new Blob([body], { type: "application/json" }));
      const answers = [
        await tried({ method: "POST", body, headers: json }),
        await tried({ method: "POST", body, mode: "no-cors" }),
        await tried({ method: "POST", body: new URLSearchParams({ data: body }), mode: "no-cors" }),
        await tried({}, "/try/project.json"),
        await tried({ mode: "no-cors" }, "/try/project.json"),
      ];
      const frame = document.createElement("iframe");
      frame.src = `${url}/try`;
      const loaded = new Promise((resolve) => frame.addEventListener("load", resolve));
      document.body.append(frame);
      await loaded;
      return answers;
    }, server.url);
    expect(seen.filter((answer) => /numbered|PENDING|"id"/u.test(answer))).toEqual([]);
    expect(await page.frameLocator("iframe").getByRole("heading").count()).toBe(0);
  } finally {
    await context.close();
    other.close();
  }
  expect(await countExecutions()).toBe(before);
});

test("requests of other origins and for other hosts are refused, whatever else they have right", async () => {
  const before = await countExecutions();
  const json = { "content-type": "application/json" };
  const body = '{"data": {"number": 1}}';
  const evil = { ...json, origin: "http://evil.example" };
  for (const headers of [
    evil,
    { ...evil, "sec-fetch-site": "cross-site" },
    { ...json, "sec-fetch-site": "same-site" },
  ])
    expect(await send("POST", "/", headers, body)).toMatchObject({
      status: 403,
      body: expect.stringContaining("FORBIDDEN"),
    });
  const rebound = { host: "evil.example:80" };
  for (const path of ["/try", "/try/project.json", "/try/color-scheme.js"])
    expect(await send("GET", path, rebound)).toMatchObject({ status: 403 });
  expect((await send("POST", "/", { ...json, "content-type": "text/plain" }, body)).status).toBe(415);
  expect(await countExecutions()).toBe(before);
  const own = { ...json, origin: server.url, "sec-fetch-site": "same-origin" };
  expect((await send("POST", "/", own, body)).status).toBe(201);
});

const LOOKS = Object.values(WIDTHS)
  .flatMap((width) => (["light", "dark"] as const).map((scheme) => ({ width, scheme })))
  .filter(({ width, scheme }) => IS_FULL_LENGTH || (width === WIDTHS.wide) === (scheme === "light"));

test.each(LOOKS)("at $width px in $scheme nobody is shut out, and nothing is cut", async (look) => {
  const visit = await openPage(look);
  const { page } = visit;
  const found = async () => [...(await findBarriers(page)), ...(await findCutText(page))];
  expect(await found()).toEqual([]);
  await run(visit);
  await page.getByRole("region", { name: "Result" }).waitFor();
  expect(await found()).toEqual([]);
  await page.getByRole("combobox", { name: "fails" }).selectOption("true");
  await run(visit);
  await page.getByText("What to do:").waitFor();
  expect(await found()).toEqual([]);
  await page.getByRole("button", { name: /^Colour scheme/u }).click();
  await page.getByRole("button", { name: "Colour scheme: light. Change to dark" }).waitFor();
  expect(visit.complaints).toEqual([]);
});
