/** Started by a test as a process of its own, which the test then kills: runs one execution that never ends. */
import { createFixture } from "./fixture.ts";

const [level = "bubblewrap", seconds = "60"] = process.argv.slice(2);
const fixture = await createFixture({}, level === "none" ? "none" : "bubblewrap");
const program = `
import subprocess
def run(params):
    for n in range(3):
        subprocess.Popen(["sleep", params["seconds"]], start_new_session=n > 0)
    print("begun")
    while True:
        pass
`;
const run = fixture.start(fixture.createVersion(program), { params: { seconds }, timeoutSeconds: 60 });
const poll = setInterval(() => {
  if (run.lines.length === 0) return;
  clearInterval(poll);
  process.stdout.write(`${fixture.directory}\n`);
}, 10);
