/**
 * MCP servers that an editor hands over: untrusted, and reviewed in the editor as `remit mcp add` reviews servers at a
 * terminal. Nothing is fetched, started or asked before a person agrees; the agreement is kept in remit.lock for exactly
 * that command, and only used by tasks of editors that hand over the same server again.
 * @module
 */
import type { McpServer } from "@agentclientprotocol/sdk";
import { Fault } from "../../contracts/base/mod.ts";
import type { ImportedServer, McpServerName } from "../../contracts/exchange/mod.ts";
import { displayText } from "../../text/mod.ts";
import { shellLine } from "../../text/shell.ts";
import { commandText } from "../command.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import { freshName } from "../mcp/import/hosts.ts";
import { lendMcp, mcpOfTask } from "../../bridges/mcp/registry/handover.ts";
import type { LookPowers } from "../../bridges/mcp/registry/look.ts";
import { lockOf, registryOf } from "../mcp/work.ts";
import type { RunSetting } from "../run/run_setting.ts";
import { type Handed, keepValues, readHanded } from "./handed.ts";
import { type AskParts, onboard, type Settled } from "./server_review.ts";
import type { EditorCommand } from "./sessions.ts";

/** The servers of one session. */
export interface HandedServers {
  /**
   * Settles each server once, asks the person as far as needed, lends the servers their secrets, and returns all servers
   * for the session's task; undefined where none of the editor's is among them. `told` receives a sentence about each
   * server that is left out or used for the first time. Rejects with Fault `cancelled` once the turn is cancelled: servers
   * not settled by then are asked about in the next turn.
   */
  settle(
    asking: AskParts,
    told: (text: string) => Promise<void>,
  ): Promise<readonly ImportedServer[] | undefined>;
}

/** Most servers of one session. */
const MAX_SERVERS = 16;
/** Limits of remit.lock for one server. */
const MAX_VARIABLES = 64;
const MAX_HEADERS = 16;
/** Most characters of a command that a person is asked to type. */
const MAX_LINE = 600;
const LATE = "this conversation began without it; a new one asks you about it";

/** The servers that an editor handed over for a session. */
export function makeHandedServers(
  command: EditorCommand,
  { servers, setting: { folder, config }, link, began }: {
    /** Untrusted. */
    readonly servers: readonly McpServer[];
    /** The folder is absolute and real. */
    readonly setting: Pick<RunSetting, "config" | "folder">;
    readonly link: Pick<KernelLink, "ask">;
    /** Servers that a resumed task began with: no other can join it. */
    readonly began?: readonly string[];
  },
): HandedServers {
  const { environment, mcpStore } = command.powers;
  const powers: LookPowers = {
    ...registryOf(command),
    // An editor's command runs in the session's folder.
    environment: { ...environment, cwd: folder },
  };
  const settled = new Map<McpServer, McpServerName | undefined>();
  const noted = new Set<string>();

  const one = async (server: McpServer, asking: AskParts): Promise<Settled> => {
    const handed = readHanded(powers, server, folder);
    const { wish, line } = handed;
    const key = `${handed.same} ${handed.code}`;
    if (wish.kind === "refused") return { why: wish.why };
    const headers = handed.secrets.filter(({ place }) => "header" in place).length;
    if (headers > MAX_HEADERS || handed.secrets.length - headers > MAX_VARIABLES) {
      return { why: "it brings too many variables or headers" };
    }
    const all = lockOf(command).list();
    const known = all.find(({ from }) => from.kind === "editor" && from.text.endsWith(key));
    const own = all.find(({ from, state }) =>
      from.kind !== "editor" && state === "approved" && from.text === line
    );
    const joins = began === undefined
      ? undefined
      : [known, own].find((each) => each !== undefined && began.includes(each.name));
    if (began !== undefined && joins === undefined) return { why: LATE };
    // A server added at a terminal keeps its values and grants.
    if (own !== undefined) return { name: own.name };
    if (known?.state === "revoked") {
      return { why: `it was revoked; ${commandText(command, `mcp approve ${known.name}`)}` };
    }
    const changed = known?.reviewed.some(({ suspended }) => suspended !== undefined) === true;
    if (known?.state === "approved" && (!changed || joins !== undefined)) {
      keepValues(powers, known.name, handed);
      return { name: known.name };
    }
    // Policy and the person's key decide who may agree; an editor alone may not.
    if (!config.policy.selfConsent) return { why: addedAtTerminal(command, handed) };
    return await onboard(command, { powers, handed, known, folder }, asking);
  };

  return Object.freeze<HandedServers>({
    async settle(asking, told) {
      for (const server of servers) {
        if (settled.has(server)) continue;
        const at = settled.size;
        let result: Settled;
        try {
          result = at < MAX_SERVERS
            ? await one(server, asking)
            : { why: `at most ${MAX_SERVERS} are taken from an editor` };
        } catch (error) {
          if (!(error instanceof Fault) || asking.signal.aborted) throw error;
          result = { why: error.message };
        }
        settled.set(server, result.name);
        if (result.why === undefined) continue;
        const shown = displayText(server.name, { max: 64 });
        const left = result.name === undefined
          ? `The server "${shown}" of your editor is not used: `
          : "";
        await told(`${left}${result.why}`);
      }
      const names = [...settled.values()].filter((name) => name !== undefined);
      if (names.length === 0) return undefined;
      const handed = mcpOfTask(powers, config, names);
      // Each turn settles again; a note is only shown once.
      const fresh = began === undefined ? handed.notes.filter((note) => !noted.has(note)) : [];
      for (const note of fresh) {
        noted.add(note);
        await told(note);
      }
      await mcpStore.ready();
      await lendMcp(powers, link, handed.servers.filter(({ name }) => names.includes(name)));
      return handed.servers;
    },
  });
}

/** How to add the server where the editor's yes does not count. TRUST: its words are untrusted, and end up in a shell. */
function addedAtTerminal(command: EditorCommand, handed: Handed): string {
  const flags = handed.secrets.map(({ place }) =>
    "env" in place ? ` --secret ${place.env}` : ` --header ${place.header}`
  ).join("");
  const name = freshName(handed.said, new Set());
  const how = handed.wish.kind === "http"
    ? `${commandText(command, `mcp add ${name} ${shellLine([handed.wish.url])}`)}${flags}`
    : `${commandText(command, `mcp add ${name}${flags}`)} -- ${shellLine(handed.words)}`;
  // A command that is cut or changed is another command; a backtick would end the code around it.
  return displayText(how, { max: MAX_LINE }) === how && !how.includes("`")
    ? `you have not reviewed it; type in a terminal: \`${how}\``
    : "you have not reviewed it, and its command is too long to be typed, or holds characters that are " +
      `not shown: add it by its configuration file, \`${commandText(command, "mcp import")}\``;
}
