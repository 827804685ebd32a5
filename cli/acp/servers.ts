/**
 * MCP servers that an editor hands over: strangers, reviewed in the editor as `remit mcp add` reviews them at a
 * terminal. Nothing of a server is fetched, started or asked before a person agreed; what was agreed is kept in
 * remit.lock for exactly that command, and handed to no task but those of editors that hand it over again.
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
   * Settles each server once, asking as far as needed, lends what it needs, and gives all servers for the session's
   * task; undefined where none of the editor's is among them. `told` hears a sentence of each that is left out, and of
   * each that is used for the first time. Rejects with Fault `cancelled` once the turn is cancelled: what was not
   * settled is asked again with the next.
   */
  settle(
    asking: AskParts,
    told: (text: string) => Promise<void>,
  ): Promise<readonly ImportedServer[] | undefined>;
}

/** Most servers of one session. */
const MOST = 16;
/** As remit.lock keeps them of one server. */
const MOST_VARIABLES = 64;
const MOST_HEADERS = 16;
/** Most characters of a command that a person is told to type. */
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
    /** Servers of a task that goes on: no other can join it. */
    readonly began?: readonly string[];
  },
): HandedServers {
  const { environment, mcpStore } = command.powers;
  const powers: LookPowers = {
    ...registryOf(command),
    // A command of an editor is one of the session's folder.
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
    if (headers > MOST_HEADERS || handed.secrets.length - headers > MOST_VARIABLES) {
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
    // What the person took in at a terminal stays as it is there, with its own values.
    if (own !== undefined) return { name: own.name };
    if (known?.state === "revoked") {
      return { why: `it was revoked; ${commandText(command, `mcp approve ${known.name}`)}` };
    }
    const changed = known?.reviewed.some(({ suspended }) => suspended !== undefined) === true;
    if (known?.state === "approved" && (!changed || joins !== undefined)) {
      keepValues(powers, known.name, handed);
      return { name: known.name };
    }
    // Policy and the person's key decide who may say yes; an editor alone may not.
    if (!config.policy.selfConsent) return { why: addedAtTerminal(command, handed) };
    return await onboard(command, { powers, handed, known, folder }, asking);
  };

  return Object.freeze<HandedServers>({
    async settle(asking, told) {
      for (const server of servers) {
        if (settled.has(server)) continue;
        const at = settled.size;
        let came: Settled;
        try {
          came = at < MOST
            ? await one(server, asking)
            : { why: `at most ${MOST} are taken from an editor` };
        } catch (error) {
          if (!(error instanceof Fault) || asking.signal.aborted) throw error;
          came = { why: error.message };
        }
        settled.set(server, came.name);
        if (came.why === undefined) continue;
        const said = displayText(server.name, { max: 64 });
        const left = came.name === undefined
          ? `The server "${said}" of your editor is not used: `
          : "";
        await told(`${left}${came.why}`);
      }
      const names = [...settled.values()].filter((name) => name !== undefined);
      if (names.length === 0) return undefined;
      const handed = mcpOfTask(powers, config, names);
      // Each turn settles anew; what is the same as before was told.
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

/** How a person takes it in where a yes of the editor does not count. Its words are a stranger's, typed into a shell. */
function addedAtTerminal(command: EditorCommand, handed: Handed): string {
  const flags = handed.secrets.map(({ place }) =>
    "env" in place ? ` --secret ${place.env}` : ` --header ${place.header}`
  ).join("");
  const name = freshName(handed.originalName, new Set());
  const how = handed.wish.kind === "http"
    ? `${commandText(command, `mcp add ${name} ${shellLine([handed.wish.url])}`)}${flags}`
    : `${commandText(command, `mcp add ${name}${flags}`)} -- ${shellLine(handed.words)}`;
  // Cut, or with a character changed, it would be another command; a backtick ends the block that it stands in.
  return displayText(how, { max: MAX_LINE }) === how && !how.includes("`")
    ? `you have not reviewed it; type in a terminal: \`${how}\``
    : "you have not reviewed it, and its command is too long to be typed, or holds characters that are " +
      `not shown: add it by its configuration file, \`${commandText(command, "mcp import")}\``;
}
