import type { Command, CommandGroup } from "../base/command.ts";
import {
  createApplicationCommand,
  listApplicationsCommand,
  removeApplicationCommand,
  renameApplicationCommand,
} from "./applications.ts";
import { auditCommand } from "./audit.ts";
import { installBackendCommand, listBackendsCommand, showBackendCommand } from "./backends.ts";
import { listBudgetsCommand, putBudgetCommand, removeBudgetCommand } from "./budgets.ts";
import { cancelCommand } from "./cancel.ts";
import { checkCommand } from "./check.ts";
import { clientsCommand } from "./clients.ts";
import { cancelExecutionsCommand } from "./cancel-executions.ts";
import { compressCommand } from "./compress.ts";
import { listExecutionsCommand, showExecutionCommand } from "./executions.ts";
import { eventsCommand } from "./events.ts";
import { initCommand } from "./init.ts";
import { createKeyCommand, listKeysCommand, removeKeyCommand, rotateKeyCommand } from "./keys.ts";
import { invitationsCommand } from "./invitations.ts";
import { inviteCommand } from "./invite.ts";
import { listingCommand } from "./listing.ts";
import { loginCommand } from "./login.ts";
import { logoutCommand } from "./logout.ts";
import { logsCommand } from "./logs.ts";
import { searchMarketplaceCommand, showMarketplaceCommand } from "./marketplace.ts";
import { membersCommand } from "./members.ts";
import {
  createOrganisationCommand,
  listOrganisationsCommand,
  removeOrganisationCommand,
} from "./organisations.ts";
import {
  drainWorkerCommand,
  listWorkersCommand,
  resumeWorkerCommand,
  showInstanceCommand,
  showStorageCommand,
} from "./operator.ts";
import {
  createResetLinkCommand,
  disableUserCommand,
  enableUserCommand,
  listAllOrganizationsCommand,
  listUsersCommand,
} from "./operator-accounts.ts";
import { listPlansCommand, putPlanCommand, removePlanCommand } from "./plans.ts";
import {
  grantPoolCommand,
  revokePoolCommand,
  sharePoolCommand,
  showPoolAccessCommand,
  unsharePoolCommand,
} from "./pool-access.ts";
import { downloadPoolFileCommand, uploadPoolFilesCommand } from "./pool-transfers.ts";
import {
  createPoolCommand,
  deletePoolCommand,
  listPoolsCommand,
  referPoolFileCommand,
  removePoolFileCommand,
  renamePoolCommand,
} from "./pools.ts";
import { publishCommand } from "./publish.ts";
import { retireCommand } from "./retire.ts";
import { resultCommand } from "./result.ts";
import {
  cancelQuantumCommand,
  listQuantumJobsCommand,
  showQuantumJobCommand,
  quantumResultCommand,
  runQuantumCommand,
} from "./quantum.ts";
import { closeQuantumSessionCommand, openQuantumSessionCommand } from "./quantum-sessions.ts";
import { runCommand } from "./run.ts";
import {
  createScheduleCommand,
  listSchedulesCommand,
  pauseScheduleCommand,
  removeScheduleCommand,
  resumeScheduleCommand,
  runScheduleCommand,
  setScheduleCommand,
  showScheduleCommand,
} from "./schedules.ts";
import { listSecretsCommand, removeSecretCommand, setSecretCommand } from "./secrets.ts";
import {
  aliasBackendCommand,
  listSharedBackendsCommand,
  shareBackendCommand,
  unshareBackendCommand,
} from "./shared-backends.ts";
import { serveCommand } from "./serve.ts";
import { removeServiceCommand, setServiceCommand } from "./service-settings.ts";
import { policyCommand } from "./service-policy.ts";
import { servicesCommand } from "./services.ts";
import { setContextCommand } from "./set-context.ts";
import { signUpCommand } from "./sign-up.ts";
import { statusCommand } from "./status.ts";
import { createTokenCommand, listTokensCommand, removeTokenCommand } from "./tokens.ts";
import { subscribeCommand } from "./subscribe.ts";
import {
  changeSubscriptionCommand,
  endSubscriberCommand,
  removeSubscriptionCommand,
  listSubscriptionsCommand,
} from "./subscriptions.ts";
import { usageCommand } from "./usage.ts";
import { unpublishCommand } from "./unpublish.ts";
import { upCommand } from "./up.ts";
import { listVariablesCommand, removeVariableCommand, setVariableCommand } from "./variables.ts";
import { verifyCommand } from "./verify.ts";
import { versionsCommand } from "./versions.ts";
import {
  createWebhookCommand,
  listWebhooksCommand,
  redeliverWebhookCommand,
  removeWebhookCommand,
  rotateWebhookCommand,
  setWebhookCommand,
  showDeliveriesCommand,
  testWebhookCommand,
} from "./webhooks.ts";
import { whoamiCommand } from "./whoami.ts";

/** All commands by subject, in the order of the help and of the reference. */
export const COMMAND_GROUPS: readonly CommandGroup[] = [
  {
    title: "Login",
    commands: [loginCommand, signUpCommand, logoutCommand, whoamiCommand, setContextCommand],
  },
  {
    title: "Projects",
    commands: [initCommand, serveCommand, checkCommand, compressCommand, upCommand],
  },
  {
    title: "Jobs",
    commands: [
      runCommand,
      statusCommand,
      resultCommand,
      logsCommand,
      eventsCommand,
      cancelCommand,
      verifyCommand,
    ],
  },
  {
    title: "Executions",
    commands: [listExecutionsCommand, showExecutionCommand, cancelExecutionsCommand],
  },
  {
    title: "Quantum jobs",
    commands: [
      listBackendsCommand,
      showBackendCommand,
      installBackendCommand,
      listSharedBackendsCommand,
      shareBackendCommand,
      aliasBackendCommand,
      unshareBackendCommand,
      runQuantumCommand,
      listQuantumJobsCommand,
      showQuantumJobCommand,
      quantumResultCommand,
      cancelQuantumCommand,
      openQuantumSessionCommand,
      closeQuantumSessionCommand,
      listBudgetsCommand,
      putBudgetCommand,
      removeBudgetCommand,
    ],
  },
  {
    title: "Schedules",
    commands: [
      listSchedulesCommand,
      createScheduleCommand,
      showScheduleCommand,
      setScheduleCommand,
      pauseScheduleCommand,
      resumeScheduleCommand,
      runScheduleCommand,
      removeScheduleCommand,
    ],
  },
  {
    title: "Data pools",
    commands: [
      listPoolsCommand,
      createPoolCommand,
      uploadPoolFilesCommand,
      downloadPoolFileCommand,
      referPoolFileCommand,
      renamePoolCommand,
      removePoolFileCommand,
      deletePoolCommand,
      showPoolAccessCommand,
      sharePoolCommand,
      unsharePoolCommand,
      grantPoolCommand,
      revokePoolCommand,
    ],
  },
  {
    title: "Services",
    commands: [
      servicesCommand,
      setServiceCommand,
      policyCommand,
      removeServiceCommand,
      versionsCommand,
      retireCommand,
      setSecretCommand,
      listSecretsCommand,
      removeSecretCommand,
      setVariableCommand,
      listVariablesCommand,
      removeVariableCommand,
    ],
  },
  {
    title: "Marketplace, as a provider",
    commands: [
      publishCommand,
      unpublishCommand,
      listingCommand,
      listPlansCommand,
      putPlanCommand,
      removePlanCommand,
      endSubscriberCommand,
    ],
  },
  {
    title: "Marketplace, as a subscriber",
    commands: [
      searchMarketplaceCommand,
      showMarketplaceCommand,
      subscribeCommand,
      listSubscriptionsCommand,
      changeSubscriptionCommand,
      removeSubscriptionCommand,
      clientsCommand,
    ],
  },
  {
    title: "Applications and tokens",
    commands: [
      listApplicationsCommand,
      createApplicationCommand,
      renameApplicationCommand,
      removeApplicationCommand,
      listKeysCommand,
      createKeyCommand,
      rotateKeyCommand,
      removeKeyCommand,
      listWebhooksCommand,
      createWebhookCommand,
      setWebhookCommand,
      rotateWebhookCommand,
      testWebhookCommand,
      showDeliveriesCommand,
      redeliverWebhookCommand,
      removeWebhookCommand,
      listTokensCommand,
      createTokenCommand,
      removeTokenCommand,
    ],
  },
  {
    title: "Organisation",
    commands: [
      listOrganisationsCommand,
      createOrganisationCommand,
      removeOrganisationCommand,
      membersCommand,
      inviteCommand,
      invitationsCommand,
      usageCommand,
      auditCommand,
    ],
  },
  {
    title: "Platform, as an operator",
    commands: [
      showInstanceCommand,
      showStorageCommand,
      listWorkersCommand,
      drainWorkerCommand,
      resumeWorkerCommand,
      listUsersCommand,
      disableUserCommand,
      enableUserCommand,
      createResetLinkCommand,
      listAllOrganizationsCommand,
    ],
  },
];

/** All commands, in the same order. */
export const COMMANDS: readonly Command[] = COMMAND_GROUPS.flatMap(({ commands }) => commands);
