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
export { frameMessages } from "./post/inbox/deliveries.ts";
export { endingOf } from "./task/ending.ts";
export { peerArtifact } from "./post/exchange/words.ts";
export type { Exchanges } from "./post/exchange/parts.ts";
export { MAX_WORDS } from "./post/exchange/words.ts";
export { openExchanges } from "./post/exchange/exchanges.ts";
export { type Inbox, openInbox } from "./post/inbox/inbox.ts";
export { makeTaskMail } from "./post/mail/mail.ts";
export { MAIL_DESCRIPTORS } from "./post/mail/descriptors.ts";
export type { MailParts, Offers } from "./post/mail/tool.ts";
export { makeNotices } from "./resource/notices.ts";
export { openResources, type Resources } from "./resource/registry.ts";
export { RESOURCE_TOOLS } from "./resource/descriptors.ts";
export { claimantOf, resourceBindings } from "./resource/tools.ts";
export { makeNamesStore } from "./post/mail/names.ts";
export { type AgentService, makeHostedAgentService, type ServiceParts } from "./service.ts";
export { isFinal } from "./task/fold.ts";
export { makeTaskKeeper, type TaskKeeper } from "./task/keeper.ts";
export { taskOfBox } from "./post/inbox/judge.ts";
