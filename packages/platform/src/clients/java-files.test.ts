import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { nameClient } from "./client-names.ts";
import { writeJavaFiles } from "./java-files.ts";

const POM = fileURLToPath(new URL("../../../../clients/java/pom.xml", import.meta.url));

test("the pom of a client has the name and the version of the service, whatever release its core is of", async () => {
  const pom = (await readFile(POM, "utf8")).replace(/<version>[^<]*/u, "<version>9.8.7");
  const subject = {
    language: "java" as const,
    service: "travelling-salesman",
    version: "1.2.3",
    names: nameClient("travelling-salesman"),
    endpoint: "https://gateway.example/key/travelling-salesman/1.2.3",
    exampleInput: null,
    openApi: {},
    models: null,
  };
  const { "pom.xml": written = "" } = writeJavaFiles(subject, pom);
  expect(written).toMatch(
    /<artifactId>travelling-salesman-client<\/artifactId>\s*<version>1\.2\.3<\/version>/u,
  );
  expect(written).not.toMatch(/9\.8\.7|platform-client/u);
  expect(written).toContain("<mainClass>io.platform.travelling_salesman.Example</mainClass>");
});
