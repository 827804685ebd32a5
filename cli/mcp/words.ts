/** Safe words for a server: how it runs, what it may do, what it asked for, its flags. @module */
import type { McpAccess, McpGrants, McpLaunch } from "../../contracts/exchange/mod.ts";
import { displayText } from "../../text/mod.ts";
import { cutTo } from "../terminal/columns.ts";
import { FLAG_WORDS, type ReviewRow, type ToolFlag } from "../../bridges/mcp/review/mod.ts";
import type { LockedServer } from "../../bridges/mcp/registry/lock.ts";
import { covered } from "../../bridges/mcp/registry/paths.ts";

const safe = (text: string, max = 300): string => displayText(text, { max });
const KIB = 1_024;

/** Bytes with a unit: bytes, KiB or MiB. */
export function bytesWords(bytes: number): string {
  if (bytes < KIB) return `${bytes} bytes`;
  const mib = bytes / KIB / KIB;
  return mib < 1 ? `${Math.round(bytes / KIB)} KiB` : `${mib.toFixed(mib < 10 ? 1 : 0)} MiB`;
}

/** How a server runs, in short. */
export function runsAs(launch: McpLaunch): string {
  switch (launch.kind) {
    case "npm":
      return `npm ${safe(launch.package)} ${safe(launch.version)}`;
    case "program":
      return `program ${safe(launch.program)}`;
    case "http":
      return launch.a2a === undefined
        ? safe(launch.url)
        : `A2A peer ${safe(launch.a2a.endpoint)} (${launch.a2a.binding})`;
  }
}

const MAX_CELL_CHARS = 80;

/** How a server runs, with a program's arguments: many servers are the same interpreter. */
export function runsAsWords(launch: McpLaunch): string {
  const words = runsAs(launch);
  return launch.kind === "program" && launch.args.length > 0
    ? `${words} ${cutTo(argumentsWords(launch), MAX_CELL_CHARS)}`
    : words;
}

/** A server's arguments, quoted where they need it. */
export function argumentsWords(launch: McpLaunch): string {
  if (launch.kind === "http") return "";
  return launch.args.map((each) =>
    /[\s"'\\]/.test(each) || each === "" ? JSON.stringify(each) : each
  )
    .map((each) => safe(each, 1_000)).join(" ");
}

/** Why a look ended without an answer, in a clause; untrusted words, escaped. */
export function endedWords(ended: string | undefined): string {
  const why = (ended ?? "it was too slow").replace(/^Cannot open the (?:MCP server|peer): /, "")
    .replace(/^Version negotiation probe failed: /, "");
  return safe(why, 500);
}

/** What a server may do, one permission a line. */
export function mayLines(
  server: Pick<LockedServer, "launch" | "grants" | "samplingTokens" | "clearance" | "direct">,
): readonly string[] {
  const { launch, grants, samplingTokens, clearance } = server;
  const asks = samplingTokens === 0
    ? []
    : [`ask the task's model for ${samplingTokens} tokens a task, each time with your yes`];
  const told = `be told what is ${clearance === "public" ? "public" : `at most ${clearance}`}`;
  if (launch.kind === "http") {
    return [`talk with ${safe(new URL(launch.url).host)}, and no other host`, told, ...asks];
  }
  const { read, write, net } = grants;
  const lines = [
    ...read.map((path) => `read ${safe(path)}`),
    ...write.map((path) =>
      `read and change ${safe(path)}, ${
        server.direct?.includes(path) === true
          ? "at once (never what runs later)"
          : "once you have reviewed it"
      }`
    ),
    ...net.map((host) =>
      host.startsWith("unix:")
        ? `connect to ${safe(host.slice(5))}, and do whatever listens there does for it`
        : `reach ${safe(host)}`
    ),
    ...(net.length > 0 || clearance !== "internal" ? [told] : []),
    ...asks,
  ];
  return lines.length === 0 ? ["nothing: no file of yours, no network"] : lines;
}

/** What a server may reach, as a cell of a table. */
export function mayWords(server: Pick<LockedServer, "launch" | "grants">): string {
  const { launch, grants } = server;
  if (launch.kind === "http") return `reach ${safe(new URL(launch.url).host)}`;
  const some = (name: string, list: readonly string[]): string[] =>
    list.length === 0 ? [] : [`${name} ${list.map((each) => safe(each)).join(" ")}`];
  const words = [
    ...some("read", grants.read),
    ...some("write", grants.write),
    ...some("net", grants.net),
  ];
  return words.length === 0 ? "nothing" : words.join(", ");
}

/** Grants in a `--json` document. */
export function grantsDocument(grants: McpGrants): Record<string, readonly string[]> {
  return { read: grants.read, write: grants.write, net: grants.net };
}

/** An access that a server asked for, in words. */
export function accessWords(access: McpAccess): string {
  const what = access.value === null ? "everything" : safe(access.value, 500);
  const times = access.times > 1 ? `, ${access.times} times` : "";
  return `${access.permission} ${what}${access.allowed ? "" : " (refused)"}${times}`;
}

function isGranted({ permission, value }: McpAccess, { read, write, net }: McpGrants): boolean {
  if (value === null) return false;
  if (permission === "read") return covered(value, [...read, ...write]);
  if (permission === "write") return covered(value, write);
  return permission === "net" && (net.includes(value) || net.includes(`${value}:443`));
}

/** Accesses that were refused and are not granted since; variables are shown elsewhere. */
export function notableAccesses(
  accesses: readonly McpAccess[],
  grants: McpGrants,
): readonly McpAccess[] {
  return accesses.filter((each) =>
    each.permission !== "env" && !each.allowed && !isGranted(each, grants)
  );
}

/** Tools counted by effect: `9 read, 5 mutateLocal`. */
export function toolsByEffect(rows: readonly Pick<ReviewRow, "effect" | "refused">[]): string {
  const counts = new Map<string, number>();
  for (const { effect, refused } of rows) {
    const key = refused === undefined ? effect ?? "read" : "refused";
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  if (counts.size === 0) return "none";
  return [...counts].map(([effect, count]) => `${count} ${effect}`).join(", ");
}

/** Names of tools in a refusal, at most 40, or what to say without any. */
export function namesWords(tools: readonly string[], none = "no approved tool"): string {
  return tools.slice(0, 40).map((tool) => safe(tool, 64)).join(", ") || none;
}

/** A flag in a line: its kind, where it was found, what was found. */
export function flagLine(flag: ToolFlag): string {
  return `${FLAG_WORDS[flag.what]}, in ${safe(flag.where, 200)}: ${safe(flag.shown, 400)}`;
}

/** The kinds of flags, as a cell of a table. */
export function flagsWords(flags: readonly ToolFlag[]): string {
  return [...new Set(flags.map(({ what }) => FLAG_WORDS[what]))].join(", ");
}
