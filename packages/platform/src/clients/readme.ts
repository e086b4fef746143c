import type { ClientSubject } from "./package-client.ts";

const COMMANDS = {
  python: `python3 -m venv .venv
.venv/bin/pip install --no-index .
.venv/bin/python -m example`,
  javascript: `npm install --offline
node example/example.js`,
  java: `mvn -q package
java -jar target/NAME-VERSION.jar`,
};

/** In a program of one's own. */
const USES = {
  python: `from MODULE import Client

with Client() as client:
    result = client.run(data, params, timeout=600)
    print(result.output)`,
  javascript: `import { Client } from "DISTRIBUTION";

const client = new Client();
const result = await client.run(data, params, { timeout: 600 });
console.log(result.output);`,
  java: `var client = new PACKAGE.CLASS();
var result = client.run(data, params);
System.out.println(result.output());`,
};

const FENCES = { python: "python", javascript: "js", java: "java" };
const TITLES = { python: "Python", javascript: "JavaScript", java: "Java" };

/** README.md of a client: how it is installed and run, as it is. */
export function writeReadme(subject: ClientSubject): string {
  const { language, service, version, endpoint, names, models, exampleInput } = subject;
  const fill = (text: string) =>
    text
      .replaceAll("NAME", names.distribution)
      .replaceAll("VERSION", version)
      .replaceAll("MODULE", names.module)
      .replaceAll("DISTRIBUTION", names.distribution)
      .replaceAll("PACKAGE", names.javaPackage)
      .replaceAll("CLASS", names.javaClass);
  const types =
    models === null
      ? "Input and result are plain JSON objects: the service declares no types of their members, or its schema is too large or too unusual for them."
      : `Types of the service: ${models.typed.map((name) => `\`${name}\``).join(", ")}. What is not typed is a plain JSON object.`;
  return `# ${service} ${version}: client for ${TITLES[language]}

Calls ${endpoint}

You need an application that subscribes to the service, and an access key of it:

\`\`\`bash
export PLATFORM_ACCESS_KEY_ID=... PLATFORM_ACCESS_KEY_SECRET=...
\`\`\`

Run the example; its input is \`example/data.json\` and \`example/params.json\`${exampleInput === null ? ", which are empty, since the provider names no example: write your input there first" : ""}:

\`\`\`bash
${fill(COMMANDS[language])}
\`\`\`

In a program of yours:

\`\`\`${FENCES[language]}
${fill(USES[language])}
\`\`\`

${types}

\`PLATFORM_SERVICE_ENDPOINT\` names another endpoint, such as \`http://127.0.0.1:8081\` of \`platform serve\`, which needs no key.
\`openapi.json\` describes the API for generators of your own.
`;
}
