import { afterAll, beforeAll, expect, test } from "vitest";
import type { Operation } from "@platform/contract/operation";
import type { TokenScope } from "@platform/contract/permissions";
import { PLATFORM_API } from "@platform/contract/platform-api/platform-api";
import { createTestMember, createTestUser } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { callOperation, createProperty, ownParams } from "../testing/operation-calls.ts";
import type { Property } from "../testing/operation-calls.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

/**
 * Who may call what, written down here once, by hand, and nowhere taken from the code. A new operation needs a line.
 *
 * nobody: without credentials. other: the owner of another organisation. viewer, maintainer, owner: members with a token of scope
 * admin. read to quantum: the owner, with a token of this scope. session: the owner's browser; vsession: the viewer's. bare: the owner's
 * cookie without proof that the console sent it. None of them runs the platform: operator-permissions.test.ts.
 */
const MATRIX = `
operation                 nobody other viewer maintainer owner read run deploy admin quantum session vsession bare
getConfiguration          yes    yes   yes    yes        yes   yes  yes yes    yes   yes     yes     yes      yes
signIn                    yes    yes   yes    yes        yes   yes  yes yes    yes   yes     yes     yes      -
startDeviceLogin          yes    yes   yes    yes        yes   yes  yes yes    yes   yes     yes     yes      yes
finishDeviceLogin         yes    yes   yes    yes        yes   yes  yes yes    yes   yes     yes     yes      yes
signOut                   -      -     yes    yes        yes   -    -   -      yes   -       yes     yes      -
listSessions              -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
revokeSession             -      -     yes    yes        yes   -    -   -      yes   -       yes     yes      -
changePassword            -      -     yes    yes        yes   -    -   -      yes   -       yes     yes      -
getMe                     -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
putMe                     -      -     yes    yes        yes   -    -   -      yes   -       yes     yes      -
listOrganizations         -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
listPersonalAccessTokens  -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
createPersonalAccessToken -      -     yes    yes        yes   -    -   -      yes   -       yes     yes      -
revokePersonalAccessToken -      -     yes    yes        yes   -    -   -      yes   -       yes     yes      -
startExternalSignIn       yes    yes   yes    yes        yes   yes  yes yes    yes   yes     yes     yes      -
finishExternalSignIn      yes    yes   yes    yes        yes   yes  yes yes    yes   yes     yes     yes      -
signUp                    yes    yes   yes    yes        yes   yes  yes yes    yes   yes     yes     yes      -
requestPasswordReset      yes    yes   yes    yes        yes   yes  yes yes    yes   yes     yes     yes      yes
resetPassword             yes    yes   yes    yes        yes   yes  yes yes    yes   yes     yes     yes      yes
requestEmailVerification  -      -     yes    yes        yes   -    -   -      yes   -       yes     yes      -
verifyEmail               -      -     yes    yes        yes   -    -   -      yes   -       yes     yes      -
createOrganization        -      -     yes    yes        yes   -    -   -      yes   -       yes     yes      -
getOrganization           -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
putOrganization           -      -     -      -          yes   -    -   -      yes   -       yes     -        -
deleteOrganization        -      -     -      -          yes   -    -   -      yes   -       yes     -        -
listMembers               -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
putMember                 -      -     -      -          yes   -    -   -      yes   -       yes     -        -
removeMember              -      -     -      -          yes   -    -   -      yes   -       yes     -        -
leaveOrganization         -      -     yes    yes        yes   -    -   -      yes   -       yes     yes      -
listInvitations           -      -     -      -          yes   -    -   -      yes   -       yes     -        -
createInvitation          -      -     -      -          yes   -    -   -      yes   -       yes     -        -
revokeInvitation          -      -     -      -          yes   -    -   -      yes   -       yes     -        -
getInvitation             yes    yes   yes    yes        yes   yes  yes yes    yes   yes     yes     yes      yes
acceptInvitation          -      -     yes    yes        yes   -    -   -      yes   -       yes     yes      -
declineInvitation         yes    yes   yes    yes        yes   yes  yes yes    yes   yes     yes     yes      yes
listServices              -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
createService             -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
getService                -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
putService                -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
deleteService             -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
publishService            -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
getPolicy                 -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
putPolicy                 -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
listPolicyRevisions       -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
unpublishService          -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
listPlans                 -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
getPlan                   -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
putPlan                   -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
archivePlan               -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
listServiceSubscriptions  -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
listVersionCallers        -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
endSubscription           -      -     -      -          yes   -    -   -      yes   -       yes     -        -
getListing                -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
putListing                -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
listMarketplace           -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
getMarketplaceEntry       -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
getCallableVersion        -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
downloadClient            -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
downloadOpenApi           -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
listVersions              -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
getVersion                -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
createVersion             -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
listBuilds                -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
getBuild                  -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
followBuild               -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
downloadArchive           -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
retireVersion             -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
listApplications          -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
createApplication         -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
getApplication            -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
putApplication            -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
deleteApplication         -      -     -      -          yes   -    -   -      yes   -       yes     -        -
listAccessKeys            -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
createAccessKey           -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
rotateAccessKey           -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
revokeAccessKey           -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
listSubscriptions         -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
createSubscription        -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
getSubscription           -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
putSubscription           -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
cancelSubscription        -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
startJob                  -      -     -      yes        yes   -    yes yes    yes   -       yes     -        -
listJobs                  -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
getJob                    -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
getJobResult              -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
getJobResultFile          -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
getJobReceipt             -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
streamJobEvents           -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
getJobBatch               -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
listEvents                -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
getJobLog                 -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
cancelJob                 -      -     -      yes        yes   -    yes yes    yes   -       yes     -        -
cancelJobBatch            -      -     -      yes        yes   -    yes yes    yes   -       yes     -        -
startJobBatch             -      -     -      yes        yes   -    yes yes    yes   -       yes     -        -
listExecutions            -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
getExecution              -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
getExecutionInput         -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
getExecutionResult        -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
listResultFiles           -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
downloadResultFile        -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
getExecutionLog           -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
locateExecution           -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
countExecutions           -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
explainExecution          -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
followExecution           -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
cancelExecutions          -      -     -      yes        yes   -    yes yes    yes   -       yes     -        -
startSubscriptionExecution -     -     -      yes        yes   -    yes yes    yes   -       yes     -        -
listDataPools             -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
createDataPool            -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
getDataPool               -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
putDataPool               -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
deleteDataPool            -      -     -      -          yes   -    -   -      yes   -       yes     -        -
listPoolFiles             -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
putPoolFile               -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
getPoolFile               -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
downloadPoolFile          -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
renamePoolFile            -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
deletePoolFile            -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
listPoolShares            -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
putPoolShare              -      -     -      -          yes   -    -   -      yes   -       yes     -        -
deletePoolShare           -      -     -      -          yes   -    -   -      yes   -       yes     -        -
listPoolGrants            -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
putPoolGrant              -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
deletePoolGrant           -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
getUsage                  -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
listAuditEvents           -      -     -      -          yes   -    -   -      yes   -       yes     -        -
verifyAuditLog            -      -     -      -          yes   -    -   -      yes   -       yes     -        -
listSecrets               -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
putSecret                 -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
deleteSecret              -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
listOrganizationSecrets   -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
putOrganizationSecret     -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
deleteOrganizationSecret  -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
listVariables             -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
putVariable               -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
deleteVariable            -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
listOrganizationVariables -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
putOrganizationVariable   -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
deleteOrganizationVariable -     -     -      yes        yes   -    -   yes    yes   -       yes     -        -
listWebhooks              -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
createWebhook             -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
getWebhook                -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
putWebhook                -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
deleteWebhook             -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
rotateWebhookSecret       -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
testWebhook               -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
listWebhookDeliveries     -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
redeliverWebhook          -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
listSchedules             -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
createSchedule            -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
getSchedule               -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
putSchedule               -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
deleteSchedule            -      -     -      yes        yes   -    -   yes    yes   -       yes     -        -
runSchedule               -      -     -      yes        yes   -    yes yes    yes   -       yes     -        -
listScheduleRuns          -      -     yes    yes        yes   yes  yes yes    yes   -       yes     yes      -
getInstance               -      -     -      -          -     -    -   -      -     -       -       -        -
listWorkers               -      -     -      -          -     -    -   -      -     -       -       -        -
drainWorker               -      -     -      -          -     -    -   -      -     -       -       -        -
resumeWorker              -      -     -      -          -     -    -   -      -     -       -       -        -
listPlatformBackends      -      -     -      -          -     -    -   -      -     -       -       -        -
putPlatformBackend        -      -     -      -          -     -    -   -      -     -       -       -        -
deletePlatformBackend     -      -     -      -          -     -    -   -      -     -       -       -        -
getSeries                 -      -     -      -          -     -    -   -      -     -       -       -        -
getStorage                -      -     -      -          -     -    -   -      -     -       -       -        -
listUsers                 -      -     -      -          -     -    -   -      -     -       -       -        -
putUser                   -      -     -      -          -     -    -   -      -     -       -       -        -
createResetLink           -      -     -      -          -     -    -   -      -     -       -       -        -
listAllOrganizations      -      -     -      -          -     -    -   -      -     -       -       -        -
`;

const [HEAD = [], ...ROWS] = MATRIX.trim()
  .split("\n")
  .map((line) => line.split(/ +/u));
const CALLERS = HEAD.slice(1);
const ALLOWED = new Map(
  ROWS.map(([operation = "", ...cells]) => [
    operation,
    CALLERS.filter((_, column) => cells[column] === "yes"),
  ]),
);

const PROOF = { "x-requested-by": "console", "sec-fetch-site": "same-origin" };

/** How each is refused, so that nobody is kept out by accident. */
const REFUSALS: Readonly<Record<string, RegExp>> = {
  nobody: /^401 UNAUTHENTICATED /u,
  other: /^403 FORBIDDEN There is no such organisation/u,
  viewer:
    /^403 FORBIDDEN (You are viewer of .*; this needs the role (maintainer or owner|owner)|Only operators of this platform may do this)\.$/u,
  maintainer:
    /^403 FORBIDDEN (You are maintainer of .*; this needs the role owner|Only operators of this platform may do this)\.$/u,
  owner: /^403 FORBIDDEN Only operators of this platform may do this\.$/u,
  admin: /^403 FORBIDDEN Only operators of this platform may do this\.$/u,
  session: /^403 FORBIDDEN Only operators of this platform may do this\.$/u,
  read: /^403 FORBIDDEN This personal access token has the scope read; this needs the scope ((run or )?deploy or )?admin\.$/u,
  run: /^403 FORBIDDEN This personal access token has the scope run; this needs the scope (deploy or )?admin\.$/u,
  deploy: /^403 FORBIDDEN This personal access token has the scope deploy; this needs the scope admin\.$/u,
  quantum:
    /^403 FORBIDDEN This personal access token has the scope quantum; this needs the scope .*admin\.$/u,
  vsession:
    /^403 FORBIDDEN (You are viewer of .*; this needs the role (maintainer or owner|owner)|Only operators of this platform may do this)\.$/u,
  bare: /^403 FORBIDDEN Requests with a session's cookie need the header X-Requested-By: console\./u,
};

let server: TestDatabase;
let instance: TestInstance;
let home: Property;
let tokens: Readonly<Record<string, string>>;
let viewer: TestUser;
let maintainer: TestUser;
let coOwner: TestUser;

beforeAll(async () => {
  server = await createTestDatabase();
  instance = await createTestInstance({ database: server.database, signUpMode: "open" });
  home = await createProperty(instance);
  const { organisationId, userId } = home.owner;
  const ofScope = async (scope: TokenScope) => {
    const wanted = { name: scope, scopes: [scope] };
    return (await instance.identity.createPersonalAccessToken(userId, wanted)).token;
  };
  viewer = await createTestMember(instance, organisationId, "viewer");
  maintainer = await createTestMember(instance, organisationId, "maintainer");
  coOwner = await createTestMember(instance, organisationId, "owner");
  tokens = {
    other: (await createTestUser(instance)).token,
    viewer: viewer.token,
    maintainer: maintainer.token,
    owner: coOwner.token,
    read: await ofScope("read"),
    run: await ofScope("run"),
    deploy: await ofScope("deploy"),
    admin: await ofScope("admin"),
    quantum: await ofScope("quantum"),
  };
});
afterAll(async () => {
  await instance?.close();
  await server?.close();
});

/** Headers of one caller. Sessions are new each time: signing out ends them. */
async function identify(caller: string): Promise<Readonly<Record<string, string>>> {
  const token = tokens[caller];
  if (token !== undefined) return { ...PROOF, authorization: `Bearer ${token}` };
  if (caller === "nobody") return PROOF;
  const user = caller === "vsession" ? viewer : home.owner;
  const value = await instance.identity.createSession(user.userId, { userAgent: caller, ip: "192.0.2.1" });
  const cookie = `platform_session=${value}`;
  return caller === "bare" ? { cookie } : { ...PROOF, cookie };
}

/** Makes a member of who has left. */
async function readmit(caller: string): Promise<void> {
  const { organisationId } = home.owner;
  if (caller === "owner") await instance.identity.addMember(organisationId, coOwner.userId, "owner");
  else if (caller === "maintainer")
    await instance.identity.addMember(organisationId, maintainer.userId, "maintainer");
  else await instance.identity.addMember(organisationId, viewer.userId, "viewer");
}

const OPERATIONS: readonly (readonly [string, Operation])[] = Object.entries(PLATFORM_API);

test("the matrix has a line for every operation, and only for these", () => {
  expect([...ALLOWED.keys()].sort()).toEqual(OPERATIONS.map(([id]) => id).sort());
  expect(ROWS.every((cells) => cells.length === HEAD.length)).toBe(true);
});

test.each(OPERATIONS)("%s is open to exactly those who may call it", async (id, operation) => {
  const open: string[] = [];
  const refusedOtherwise: string[] = [];
  for (const caller of CALLERS) {
    const response = await callOperation(instance, {
      id,
      operation,
      property: home,
      params: ownParams(home, operation),
      headers: { ...(await identify(caller)), "x-organizationid": home.owner.organisationId },
    });
    const { statusCode } = response;
    if (id === "leaveOrganization" && statusCode === 204) await readmit(caller);
    if (statusCode !== 401 && statusCode !== 403) open.push(caller);
    else {
      const { code, detail } = response.json<{ code: string; detail: string }>();
      const refusal = `${statusCode} ${code} ${detail}`;
      if (REFUSALS[caller]?.test(refusal) !== true) refusedOtherwise.push(`${caller}: ${refusal}`);
    }
  }
  expect(open).toEqual(ALLOWED.get(id));
  expect(refusedOtherwise).toEqual([]);
});
