/**
 * HostedAgentService: tasks from request to end.
 *
 * @example
 * ```ts
 * import { endingOf } from "./mod.ts";
 * const ending = endingOf({ stop: "answered", text: "Done." }, { kind: "nothing" }, {
 *   interactive: false,
 *   contaminated: false,
 * });
 * if (ending.status !== "done") throw new Error("expected done");
 * ```
 * @module
 */
export { openConversations } from "./conversations.ts";
export { frameMessages } from "./inbox/deliveries.ts";
export { endingOf } from "./task/ending.ts";
export { peerArtifact } from "./exchange/artifact.ts";
export type { Exchanges } from "./exchange/parts.ts";
export { MOST_WORDS } from "./exchange/words.ts";
export { openExchanges } from "./exchange/exchanges.ts";
export { type Inbox, openInbox } from "./inbox/inbox.ts";
export { makeTaskMail } from "./mail/mail.ts";
export { MAIL_DESCRIPTORS } from "./mail/descriptors.ts";
export type { MailParts, Offers } from "./mail/tool.ts";
export { makeNamesStore } from "./mail/names.ts";
export { type AgentService, makeHostedAgentService, type ServiceParts } from "./service.ts";
export { isFinal } from "./task/fold.ts";
export { makeTaskKeeper, type TaskKeeper } from "./task/keeper.ts";
export { taskOfBox } from "./inbox/judge.ts";
