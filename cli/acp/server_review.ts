/** Reviews an editor's server with its person: two questions in the editor, before it starts and before its tools are used. @module */
import { Millis } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import { type McpLook, mcpPart, type McpServerName } from "../../contracts/exchange/mod.ts";
import type { EditorVoice } from "../../bridges/acp/mod.ts";
import { displayText } from "../../text/mod.ts";
import { commandText } from "../command.ts";
import { within } from "../../launch/disk/places.ts";
import { freshName } from "../mcp/import/hosts.ts";
import { approvedLines, pin } from "../mcp/onboard.ts";
import { provideLaunch } from "../../bridges/mcp/registry/fetch/provide.ts";
import { freshServer, type LockedServer, withGrants } from "../../bridges/mcp/registry/lock.ts";
import { dropLook, lookAt, type LookPowers } from "../../bridges/mcp/registry/look.ts";
import { namedPaths, propose } from "../../bridges/mcp/registry/paths.ts";
import type { McpReview } from "../../bridges/mcp/registry/review.ts";
import { forgetMcpSecrets } from "../../bridges/mcp/registry/secrets.ts";
import { sweepTrees } from "../../bridges/mcp/registry/store/sweep.ts";
import { alienLines, reviewLines, serverLines } from "../mcp/review_lines.ts";
import { endedWords } from "../mcp/words.ts";
import { lockOf, reviewNow } from "../mcp/work.ts";
import { makePaint } from "../terminal/paint.ts";
import { type Handed, keepValues } from "./handed.ts";
import type { EditorCommand } from "./sessions.ts";

/** The editor, for asking its person. */
export interface AskParts {
  readonly voice: EditorVoice;
  /** Aborts when the turn is cancelled. */
  readonly signal: AbortSignal;
}

/** With a name: the server is used. `why`: a note for the person, or the reason why it is left out. */
export type Settled =
  | { readonly name: McpServerName; readonly why?: string }
  | { readonly name?: undefined; readonly why: string };

/** Most characters of a review sent to an editor. */
const MAX_REVIEW = 40_000;
/** Layout of a review: an editor wraps lines itself. */
const PAPER = { paint: makePaint(false), width: 110 };

/** The server to onboard, and the powers to do so. */
export interface Onboarding {
  readonly powers: LookPowers;
  readonly handed: Handed;
  /** The server's entry from an earlier session. */
  readonly known: LockedServer | undefined;
  readonly folder: string;
}

/** Asks whether the server may start, looks at it within its walls, and asks whether its tools may be used. */
export async function onboard(
  command: EditorCommand,
  parts: Onboarding,
  asking: AskParts,
): Promise<Settled> {
  const { powers, handed } = parts;
  const lock = lockOf(command);
  const taken = new Set(lock.list().map(({ name }) => mcpPart(name)));
  const name = parts.known?.name ?? freshName(handed.said, taken);
  const said = displayText(handed.said, { max: 64 });
  const called = name === handed.said ? `"${name}"` : `"${said}" (here: ${name})`;
  const given = handed.secrets.map(({ place }) =>
    displayText("env" in place ? place.env : `header ${place.header}`, { max: 64 })
  );
  const start = await askInEditor(asking, {
    id: `server-${name}-start`,
    title: `Start the MCP server ${called} of your editor, to look at it?`,
    lines: [
      `it runs as: ${displayText(handed.line, { max: 2_000 })}`,
      handed.wish.kind === "http"
        ? "it is asked over the network, at its own origin alone"
        : "it is started in a namespace without network and without your files; what it names of this folder it may read",
      ...(given.length === 0 ? [] : [`it is given, as secrets: ${given.join(", ")}`]),
      ...handed.notes,
      "no tool of it is used before you have seen its tools",
    ],
    yes: "Start it",
  });
  // An approved server stays as it was, with its grants: a failed look takes nothing away.
  const leave = (): void => {
    if (lock.find(name)?.state === "added") forget(command, powers, name);
  };
  if (!start) {
    leave();
    return { why: "you left it out" };
  }
  const server = parts.known ?? await takeIn(command, name, parts);
  try {
    keepValues(powers, name, handed);
  } catch (error) {
    leave();
    throw error;
  }
  const look = await unlessCancelled(lookAt(powers, server, false), asking.signal);
  if (look.words === undefined) {
    leave();
    return { why: `it gave no answer: ${failureWords(look)}` };
  }
  const review = await reviewNow(command, server, look.words);
  const proposal = propose({
    named: [],
    accesses: look.accesses,
    tools: look.words.tools,
    given: server.grants,
    env: server.secretEnv,
  });
  const use = await askInEditor(asking, {
    id: `server-${name}-use`,
    title: `Use the tools of the MCP server ${called}?`,
    lines: reviewText(
      review,
      look,
      [
        ...proposal.net.map((host) => `mcp grant ${name} --net ${host}`),
        ...proposal.env.map((each) => `mcp grant ${name} --secret ${displayText(each)}`),
      ].map((words) => commandText(command, words)),
    ),
    yes: "Use what is not flagged",
  });
  if (!use) {
    leave();
    return { why: "you left it out" };
  }
  const done = pin(command, review, { flagged: false });
  const [, ...left] = approvedLines(command, done).map((line) => line.trim());
  if (done.server.state !== "approved") return { why: left.join("; ") };
  // Replaces entries of the same command over earlier files.
  for (const { name: old, from, state } of lock.list()) {
    const isBefore = from.kind === "editor" && from.text.startsWith(`${startOf(handed)} `);
    if (isBefore && old !== name && state !== "revoked") {
      forget(command, powers, old);
      left.push(`${old}, the same command before its files changed, is removed`);
    }
  }
  return { name, why: [`The server ${called} of your editor is used`, ...left].join("; ") };
}

/** The beginning of the server's entry in remit.lock: everything but the digest of its files. */
function startOf({ line, same }: Handed): string {
  return `${line.slice(0, 8_000)} ${same}`;
}

/** Fetches or finds the server, grants the session's folders that its words name, and keeps its values apart. */
async function takeIn(
  command: EditorCommand,
  name: McpServerName,
  { powers, handed, folder }: Onboarding,
): Promise<LockedServer> {
  const provided = await provideLaunch(powers, handed.wish);
  const { launch } = provided;
  const fresh = freshServer(name, {
    ...provided,
    notes: [...provided.notes, ...handed.notes].slice(0, 64),
  }, {
    addedAt: Millis.parse(command.powers.environment.now()),
    from: { kind: "editor", text: `${startOf(handed)} ${handed.code}` },
  });
  const named = launch.kind === "http" ? [] : namedPaths(powers, { launch, env: {} });
  const server = withGrants(fresh, {
    // The session's agent reads these anyway; anything else is granted at a terminal.
    grants: { read: named.filter((path) => within(path, folder)), write: [], net: [] },
    env: {},
    secretEnv: handed.secrets.flatMap(({ place }) => "env" in place ? [place.env] : []),
    secretHeaders: handed.secrets.flatMap(({ place }) => "header" in place ? [place.header] : []),
  });
  lockOf(command).add(server);
  return server;
}

/** Removes every trace of a refused server. */
function forget(command: EditorCommand, powers: LookPowers, name: McpServerName): void {
  lockOf(command).remove(name);
  forgetMcpSecrets(powers, name);
  dropLook(powers, name);
  sweepTrees(powers);
}

function failureWords(look: McpLook): string {
  const [printed = ""] = alienLines(PAPER, look.errors, 1);
  return `${endedWords(look.ended)}${printed === "" ? "" : `; ${printed.trim()}`}`;
}

function reviewText(
  review: McpReview,
  { accesses }: McpLook,
  grants: readonly string[],
): readonly string[] {
  return [
    ...serverLines(PAPER, review.server, accesses),
    ...reviewLines(PAPER, review, { whole: false }),
    ...grants.map((how) => `it may want: ${how}`),
  ];
}

/** Asks about something announced as a call, as the protocol requires. */
async function askInEditor(
  { voice, signal }: AskParts,
  { id, title, lines, yes }: {
    readonly id: string;
    readonly title: string;
    readonly lines: readonly string[];
    readonly yes: string;
  },
): Promise<boolean> {
  // Indented, so that no untrusted line can end the code block around it.
  const all = lines.map((line) => `    ${line}`).join("\n");
  const text = all.length <= MAX_REVIEW ? all : `${all.slice(0, MAX_REVIEW)}\n    … cut`;
  const call = {
    toolCallId: id,
    title,
    kind: "other" as const,
    status: "pending" as const,
    content: [{ type: "content" as const, content: { type: "text" as const, text } }],
  };
  await voice.update({ sessionUpdate: "tool_call", ...call });
  let chosen: string | undefined;
  try {
    chosen = await voice.ask({
      toolCall: call,
      options: [
        { optionId: "allow", name: yes, kind: "allow_once" },
        { optionId: "deny", name: "Leave it out", kind: "reject_once" },
      ],
    }, signal);
  } finally {
    const status = chosen === "allow" ? "completed" : "failed";
    await voice.update({ sessionUpdate: "tool_call_update", toolCallId: id, status });
  }
  return chosen === "allow";
}

/** Rejects once the turn is cancelled; the abandoned work ends by its own deadline. */
function unlessCancelled<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new Fault("cancelled", "Cannot look at it: cancelled"));
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
    if (signal.aborted) stop();
  });
}
