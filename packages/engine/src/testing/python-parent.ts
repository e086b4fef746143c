/** Started by a test as a process of its own, which the test then kills: one execution, or one import, that never ends. */
import type { SandboxLevel } from "@platform/contract/sandbox";
import { createFixture } from "./python-fixture.ts";

const [level = "B", seconds = "60", stage = "run"] = process.argv.slice(2);
const fixture = await createFixture({}, level as SandboxLevel);
const program = `
import subprocess
def run(params):
    for n in range(3):
        subprocess.Popen(["sleep", "${seconds}"], start_new_session=n > 0)
    while True:
        pass
${stage === "import" ? "run({})" : ""}
`;
fixture.start(fixture.createVersion(program), { params: {}, timeoutSeconds: 60 });
process.stdout.write(`${fixture.directory}\n`);
