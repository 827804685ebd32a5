/** From words to a command's work, and from faults to exit codes. Seed 004 section 66. @module */
import { EXIT, EXIT_OF_FAULT, Fault } from "../contracts/mod.ts";
import { displayBlock } from "../text/mod.ts";
import {
  auditQuery,
  auditRepair,
  auditVerify,
  receiptExport,
  receiptShow,
  receiptVerify,
} from "./audit_commands.ts";
import type { Work } from "./command.ts";
import {
  conversationCompare,
  conversationExpire,
  conversationFork,
  conversationList,
  conversationName,
  conversationRemove,
  conversationShow,
} from "./conversation_commands.ts";
import { ctxList, ctxRestore, ctxShow } from "./ctx_commands.ts";
import { findCommand } from "./command_table.ts";
import { diskFault } from "./disk_fault.ts";
import { doctorCommand } from "./doctor_command.ts";
import type { Hands } from "./hands.ts";
import { familyLines, familyText, helpText } from "./help.ts";
import { keyCreate, keyRotate, keyShow } from "./key_commands.ts";
import {
  canCommand,
  grantsCommand,
  leaseList,
  leaseRevoke,
  outboxList,
  outboxRelease,
  outboxShow,
} from "./lease_commands.ts";
import { logCommand } from "./log_command.ts";
import { modelList } from "./model_list_command.ts";
import { modelEmbed } from "./model_embed_command.ts";
import { modelTest } from "./model_test_command.ts";
import { modelUse } from "./model_use_command.ts";
import { modelAccelerate } from "./model_accelerate_command.ts";
import { modelAdd, modelPull, modelRemove, modelVerify } from "./model_weights_commands.ts";
import { flag, has, parseArguments } from "./parse_arguments.ts";
import { placesOf } from "./places.ts";
import { answerCommand, questionsCommand } from "./question_commands.ts";
import { runCommand } from "./run_command.ts";
import { safeJson } from "./safe_json.ts";
import { secretList, secretRemove, secretSet } from "./secret_commands.ts";
import { sessionCommand } from "./session_command.ts";
import { stopCommand } from "./stop_command.ts";
import {
  diffCommand,
  killCommand,
  psCommand,
  resumeCommand,
  taskChange,
  taskExtend,
  taskShow,
  undoCommand,
} from "./task_commands.ts";
import { toolCall } from "./tool_call_command.ts";
import { toolAdd, toolInspect, toolList, toolRemove } from "./tool_commands.ts";
import { toolBuild, toolDev, toolNew, toolSign, toolTest } from "./tool_make_commands.ts";
import { trustCommand } from "./trust_command.ts";
import { VERSION } from "./version.ts";
import { INBOX_WORK } from "./inbox/inbox_work.ts";
import { MAIL_WORK } from "./mail/mail_work.ts";
import { TRIGGER_WORK } from "./service/trigger_work.ts";
import { sgrepCommand } from "./sgrep_command.ts";
import { sdiffCommand } from "./sdiff_command.ts";
import { a2aAdd } from "./a2a/add_command.ts";
import { a2aLog, a2aLogin, a2aRemove, a2aRevoke } from "./a2a/keep_commands.ts";
import { a2aDescribe, a2aList } from "./a2a/list_command.ts";
import { a2aApprove, a2aReview } from "./a2a/review_commands.ts";
import { a2aSend, a2aWatch } from "./a2a/send_command.ts";
import { mcpAdd } from "./mcp_add_command.ts";
import { mcpApprove } from "./mcp_approve_command.ts";
import { mcpCall } from "./mcp_call_command.ts";
import { mcpImport } from "./mcp_import_command.ts";
import { mcpInspect } from "./mcp_inspect_command.ts";
import { mcpGrant, mcpRemove, mcpRevoke, mcpTool } from "./mcp_keep_commands.ts";
import { mcpList } from "./mcp_list_command.ts";
import { mcpLog } from "./mcp_log_command.ts";
import { mcpLogin } from "./mcp_login_command.ts";
import { mcpReview } from "./mcp_review_command.ts";
import { mcpServe } from "./mcp_serve_command.ts";
import { mcpToken } from "./mcp_serve_token_command.ts";
import { a2aToken } from "./service/peer_token_command.ts";
import { serveCommand } from "./service/serve_command.ts";
import { serveLogin } from "./service/serve_words.ts";
import { wikiEdit } from "./wiki_edit_command.ts";
import { wikiExport } from "./wiki_export_command.ts";
import { wikiIngest } from "./wiki_ingest_command.ts";
import { wikiInit } from "./wiki_init_command.ts";
import { wikiEmbed, wikiReindex, wikiWatch } from "./wiki_keep_commands.ts";
import { wikiLint } from "./wiki_lint_command.ts";
import { wikiRedact, wikiSanitize } from "./wiki_mark_command.ts";
import { wikiNotes } from "./wiki_notes_command.ts";
import { wikiQuery } from "./wiki_query_command.ts";
import { wikiDiff, wikiHistory, wikiList, wikiLog, wikiStatus } from "./wiki_read_commands.ts";
import { wikiShow } from "./wiki_show_command.ts";
import { wikiReview } from "./wiki_review_command.ts";

const WORK: Readonly<Record<string, Work>> = {
  "": sessionCommand,
  run: runCommand,
  questions: questionsCommand,
  answer: answerCommand,
  resume: resumeCommand,
  ps: psCommand,
  "task show": taskShow,
  "task cancel": taskChange("cancel"),
  "task archive": taskChange("archive"),
  "task purge": taskChange("purge"),
  "task extend": taskExtend,
  kill: killCommand,
  diff: diffCommand,
  undo: undoCommand,
  log: logCommand,
  "audit verify": auditVerify,
  "audit query": auditQuery,
  "audit repair": auditRepair,
  "receipt show": receiptShow,
  "receipt export": receiptExport,
  "receipt verify": receiptVerify,
  "lease list": leaseList,
  "lease revoke": leaseRevoke,
  grants: grantsCommand,
  can: canCommand,
  "outbox list": outboxList,
  "outbox show": outboxShow,
  "outbox release": outboxRelease,
  trust: trustCommand,
  "key create": keyCreate,
  "key show": keyShow,
  "key rotate": keyRotate,
  "model list": modelList,
  "model use": modelUse,
  "model test": modelTest,
  "model embed": modelEmbed,
  "model pull": modelPull,
  "model add": modelAdd,
  "model verify": modelVerify,
  "model remove": modelRemove,
  "model accelerate": modelAccelerate,
  "ctx list": ctxList,
  "ctx show": ctxShow,
  "ctx restore": ctxRestore,
  "conversation list": conversationList,
  "conversation name": conversationName,
  "conversation show": conversationShow,
  "conversation fork": conversationFork,
  "conversation compare": conversationCompare,
  "conversation expire": conversationExpire,
  "conversation remove": conversationRemove,
  "tool list": toolList,
  "tool inspect": toolInspect,
  "tool add": toolAdd,
  "tool remove": toolRemove,
  "tool call": toolCall,
  "tool new": toolNew,
  "tool build": toolBuild,
  "tool test": toolTest,
  "tool dev": toolDev,
  "tool sign": toolSign,
  "secret set": secretSet,
  "secret list": secretList,
  "secret remove": secretRemove,
  "wiki init": wikiInit,
  "wiki ingest": wikiIngest,
  "wiki query": wikiQuery,
  "wiki lint": wikiLint,
  "wiki show": wikiShow,
  "wiki list": wikiList,
  "wiki status": wikiStatus,
  "wiki edit": wikiEdit,
  "wiki history": wikiHistory,
  "wiki diff": wikiDiff,
  "wiki review": wikiReview,
  "wiki sanitize": wikiSanitize,
  "wiki redact": wikiRedact,
  "wiki notes": wikiNotes,
  "wiki log": wikiLog,
  "wiki watch": wikiWatch,
  "wiki export": wikiExport,
  "wiki reindex": wikiReindex,
  "wiki embed": wikiEmbed,
  "mcp add": mcpAdd,
  "mcp import": mcpImport,
  "mcp review": mcpReview,
  "mcp approve": mcpApprove,
  "mcp list": mcpList,
  "mcp call": mcpCall,
  "mcp tool": mcpTool,
  "mcp grant": mcpGrant,
  "mcp inspect": mcpInspect,
  "mcp log": mcpLog,
  "mcp login": mcpLogin,
  "mcp revoke": mcpRevoke,
  "mcp remove": mcpRemove,
  "a2a add": a2aAdd,
  "a2a list": a2aList,
  "a2a describe": a2aDescribe,
  "a2a review": a2aReview,
  "a2a approve": a2aApprove,
  "a2a send": a2aSend,
  "a2a watch": a2aWatch,
  "a2a log": a2aLog,
  "a2a login": a2aLogin,
  "a2a revoke": a2aRevoke,
  "a2a remove": a2aRemove,
  "mcp serve": mcpServe,
  "mcp token": mcpToken,
  serve: serveCommand,
  "serve login": serveLogin,
  "a2a token": a2aToken,
  ...TRIGGER_WORK,
  ...INBOX_WORK,
  ...MAIL_WORK,
  sgrep: sgrepCommand,
  sdiff: sdiffCommand,
  doctor: doctorCommand,
  stop: stopCommand,
};

function report(hands: Hands, fault: Fault, json: boolean): number {
  if (json) {
    hands.screen.out(`${safeJson({ error: { code: fault.code, message: fault.message } }, 2)}\n`);
  } else {
    const { paint } = hands.screen;
    displayBlock(fault.message, { prefix: "", max: 20_000, maxLines: 60, columns: 1_000 }).forEach((
      line,
      n,
    ) => hands.screen.say(n === 0 ? `${paint.red("remit:")} ${line}` : line));
  }
  return EXIT_OF_FAULT[fault.code];
}

/** What stands after `--` is another program's. */
function asksJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return (end < 0 ? argv : argv.slice(0, end)).includes("--json");
}

/** Runs one command line; gives the exit code. Bugs are thrown, faults are reported. */
export async function runCommandLine(argv: readonly string[], hands: Hands): Promise<number> {
  const [first] = argv;
  if (argv.length === 1 && first === "help") {
    const overview = findCommand("");
    hands.screen.out(overview === undefined ? "" : helpText(overview));
    return EXIT.success;
  }
  const family = argv.filter((word) => !word.startsWith("-"));
  const [word = ""] = family;
  const asksHelp = argv.includes("--help") || argv.includes("-h");
  if (
    asksHelp && family.length === 1 && familyLines(word).length > 0 &&
    findCommand(word) === undefined
  ) {
    hands.screen.out(familyText(word));
    return EXIT.success;
  }
  try {
    const parsed = parseArguments(argv);
    const json = has(parsed, "json");
    if (has(parsed, "version")) {
      hands.screen.out(json ? `${safeJson({ version: VERSION })}\n` : `remit ${VERSION}\n`);
      return EXIT.success;
    }
    if (has(parsed, "help")) {
      hands.screen.out(helpText(parsed.command));
      return EXIT.success;
    }
    const work = WORK[parsed.command.name];
    if (work === undefined) throw new TypeError(`Cannot run "${parsed.command.name}": no work`);
    const places = placesOf(hands.around, flag(parsed, "state"));
    return await work({ hands, parsed, places, json });
  } catch (error) {
    const fault = error instanceof Fault ? error : diskFault(error);
    if (fault !== undefined) return report(hands, fault, asksJson(argv));
    throw error;
  }
}

/** Names of commands that have work; compared with the table by a test. */
export const WORKING: readonly string[] = Object.keys(WORK);
