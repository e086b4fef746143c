/** Started by a test as a process of its own: prints as JSON which isolation level it finds, and what an execution in it returns. */
import { createFixture, findTestSandbox } from "./python-fixture.ts";

const PROGRAM = `
def can_read(path):
    try:
        return open(path).read() != ""
    except OSError:
        return False
def run(params):
    return {"canRead": can_read("/etc/passwd")}
`;

const sandbox = await findTestSandbox();
const fixture = await createFixture({ sandbox });
const { outcome, result } = await fixture.finish(fixture.createVersion(PROGRAM), { params: {} });
await fixture.close();
process.stdout.write(JSON.stringify({ report: sandbox.report, status: outcome.status, result }));
