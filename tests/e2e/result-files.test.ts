import { readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

const MINUTE = 60_000;
const PROGRAM = `
import os

def run(data):
    folder = os.environ["OUTPUT_DIRECTORY"]
    with open(os.path.join(folder, "tour.csv"), "w") as file:
        file.write("city,length\\nKöln,7542\\n")
    with open(os.path.join(folder, "plot 1.png"), "wb") as file:
        file.write(bytes(range(256)) * 20_000)
    os.symlink("/etc/passwd", os.path.join(folder, "passwd"))
    os.mkfifo(os.path.join(folder, "pipe"))
    if data.get("fail"):
        raise ValueError("no")
    return {"length": 7542}
`;

interface Answer {
  readonly result: unknown;
  readonly metadata?: { readonly _omittedFiles?: readonly { readonly name: string }[] };
  readonly _links: Readonly<Record<string, { readonly href: string }>>;
}

function readAnswer({ body: { result, metadata, _links: links } }: { readonly body: Answer }) {
  return { result, links, omitted: metadata?.["_omittedFiles"] ?? [] };
}

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

test(
  "files that a run leaves can be downloaded by their links, by its application and by nobody else, and as those of a job",
  { timeout: 4 * MINUTE },
  async () => {
    world = await createWorld({ flags: ["--worker-cpu", "2", "--worker-memory", "4"] });
    const { serviceKey } = await world.deploy(await world.createProject("filer", PROGRAM));
    const consumer = await world.subscribe(serviceKey);
    const { body } = await consumer.start({ data: {} });
    expect((await consumer.finish(body.id)).status).toBe("SUCCEEDED");
    const { result, links, omitted } = readAnswer(await consumer.call<Answer>("GET", `${body.id}/result`));
    expect(result).toEqual({ length: 7542 });
    expect(Object.keys(links).toSorted()).toEqual(["plot 1.png", "self", "status", "tour.csv"]);
    expect(omitted.map(({ name }) => name)).toEqual(["passwd", "pipe"]);

    const { origin } = new URL(consumer.endpoint);
    const download = (name: string, token = consumer.token) =>
      fetch(new URL(links[name]?.href ?? "", origin), {
        headers: { authorization: `Bearer ${token}` },
      });
    const tour = await download("tour.csv");
    expect(tour.headers.get("content-type")).toBe("text/csv");
    expect(tour.headers.get("content-disposition")).toContain('filename="tour.csv"');
    expect(await tour.text()).toBe("city,length\nKöln,7542\n");
    const plot = Buffer.from(await (await download("plot 1.png")).arrayBuffer());
    expect(
      plot.equals(
        Buffer.concat(
          Array.from({ length: 20_000 }, () => Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))),
        ),
      ),
    ).toBe(true);
    const other = await world.subscribe(serviceKey);
    expect((await download("tour.csv", other.token)).status).toBe(404);

    const failed = await consumer.start({ data: { fail: true } });
    expect((await consumer.finish(failed.body.id)).status).toBe("FAILED");
    const failure = readAnswer(await consumer.call<Answer>("GET", `${failed.body.id}/result`));
    expect(Object.keys(failure.links).toSorted()).toEqual(["self", "status"]);
    expect((await consumer.call("GET", `${failed.body.id}/result/tour.csv`)).status).toBe(404);

    const job = await world.api<{ id: string }>("POST", `/jobs?serviceKey=${serviceKey}`, {});
    const readJob = async () =>
      (await world?.api<{ status: string }>("GET", `/jobs/${job.body.id}`))?.body.status;
    await expect.poll(readJob, { timeout: MINUTE }).toBe("SUCCEEDED");
    const ofJob = readAnswer(await world.api<Answer>("GET", `/jobs/${job.body.id}/result`));
    const file = await fetch(new URL(ofJob.links["tour.csv"]?.href ?? "", world.platform.apiUrl), {
      headers: { authorization: `Bearer ${world.login.personalAccessToken}` },
    });
    expect(await file.text()).toContain("Köln");

    const { cli, directory } = world;
    const fetchAll = async (...flags: string[]) => {
      const { code, stdout } = await cli(
        directory,
        "result",
        job.body.id,
        "--files",
        "a/out",
        "--json",
        ...flags,
      );
      return { code, ...(JSON.parse(stdout) as object) };
    };
    const folder = join(directory, "a", "out");
    const names = ["plot 1.png", "tour.csv"];
    expect(await fetchAll()).toMatchObject({ code: 0, files: names.map((name) => ({ name })), failed: [] });
    expect((await readdir(folder)).toSorted()).toEqual(["plot 1.png", "result.json", "tour.csv"]);
    expect(JSON.parse(await readFile(join(folder, "result.json"), "utf8"))).toEqual({ length: 7542 });
    expect(plot.equals(await readFile(join(folder, "plot 1.png")))).toBe(true);
    await writeFile(join(folder, "tour.csv"), "mine");
    expect(await fetchAll()).toMatchObject({
      code: 1,
      files: [{ name: "plot 1.png", written: false }],
      failed: [{ name: "tour.csv", code: "FILE_EXISTS" }],
    });
    expect(await readFile(join(folder, "tour.csv"), "utf8")).toBe("mine");
    expect(await fetchAll("--force")).toMatchObject({ code: 0, failed: [] });
    expect(await readFile(join(folder, "tour.csv"), "utf8")).toContain("Köln");
    const unknown = await cli(directory, "result", "00000000-0000-4000-8000-000000000000", "--files", "none");
    expect([unknown.code, (await readdir(directory)).includes("none")]).toEqual([1, false]);
  },
);
