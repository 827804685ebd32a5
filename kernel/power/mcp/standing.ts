/**
 * Compares an imported server's tools with the review. A tool that differs is suspended for its
 * task. Used by mcp_tools.ts; made in kernel/main_mcp.ts.
 * @module
 */
import { WIKI_OWN, WIKI_READ_ONLY } from "../wiki/wiki_tools.ts";
import { isPeer, PeerFacts } from "../../../contracts/exchange/exchange.ts";
import type {
  ImportedServer,
  ImportedTool,
  McpToolWords,
  ServerListing,
} from "../../../contracts/exchange/mod.ts";
import { foldPath } from "../../../text/path_list.ts";
import { beneath } from "../../core/lease/scope.ts";
import type { McpAt, McpLog } from "./log.ts";

/** Compares tools with the review; the lists hold the tools' names on the wire. */
export type McpChanges = (
  pinned: readonly Pick<ImportedTool, "tool" | "digest">[],
  words: readonly McpToolWords[],
) => {
  readonly changed: readonly string[];
  readonly missing: readonly string[];
  readonly added: readonly string[];
};

/** The standing of one server's tools in one task. */
export interface McpStanding {
  /** Compares the server's listing with the review; the same listing is compared once. */
  check(words: Pick<ServerListing, "tools">): void;
  /** Why a tool is suspended; undefined where it is not. */
  why(tool: Pick<ImportedTool, "tool">): string | undefined;
  /** Why all tools are suspended: the peer's card has changed. Undefined where they are not. */
  whyNothing(): string | undefined;
}

/** Makes the standing; no tool is suspended before the first listing. */
export function makeMcpStanding(
  at: McpAt & { readonly server: Pick<ImportedServer, "tools" | "launch"> },
  { changes, log }: { readonly changes: McpChanges; readonly log: Pick<McpLog, "note"> },
): McpStanding {
  // INVARIANT: a changed tool stays suspended, even when it changes back (test: "… back again …").
  const changed = new Set<string>();
  let missing: ReadonlySet<string> = new Set();
  let whole: string | undefined;
  let checked: Pick<ServerListing, "tools"> | undefined;

  return Object.freeze<McpStanding>({
    check(words): void {
      if (checked === words) return;
      checked = words;
      const found = changes(at.server.tools, words.tools);
      const card = cardChange(at.server.launch, words);
      if (card !== undefined && whole === undefined) {
        whole = card;
        // The card's change has its own event, also where every tool is suspended already.
        for (const { tool } of at.server.tools) {
          changed.add(tool);
          log.note(at, "suspended", { why: "changed", tool });
        }
      }
      for (const tool of found.changed) {
        if (changed.has(tool)) continue;
        changed.add(tool);
        log.note(at, "suspended", { why: "changed", tool });
      }
      for (const tool of found.missing) {
        if (!missing.has(tool)) log.note(at, "suspended", { why: "missing", tool });
      }
      missing = new Set(found.missing);
      if (found.added.length > 0) log.note(at, "changed", { added: found.added.length });
    },
    whyNothing: () => whole,
    why({ tool }): string | undefined {
      if (whole !== undefined) return whole;
      if (changed.has(tool)) return "it changed since it was reviewed";
      return missing.has(tool) ? "its server does not offer it any more" : undefined;
    },
  });
}

/** How a peer's card differs from the pinned one; undefined where it does not. */
function cardChange(launch: ImportedServer["launch"], words: object): string | undefined {
  if (!isPeer(launch)) return undefined;
  const { endpoint, binding, keys } = launch.a2a;
  const facts = PeerFacts.safeParse("peer" in words ? words.peer : undefined);
  if (!facts.success) return "its card cannot be read any more";
  const { data } = facts;
  if (data.endpoint !== endpoint || data.binding !== binding) {
    return "its card changed since it was reviewed: it listens elsewhere";
  }
  // At least one pinned key must still sign the card; others may come and go.
  const signs = keys.length === 0 || keys.some((key) => data.keys.includes(key));
  return signs
    ? undefined
    : "its card changed since it was reviewed: whoever signed it then does not now";
}

// Paths that no imported server may touch, even inside a granted folder: the never-list, and a wiki's own files.

/** Globs for the names of unreadable files; `neverRead` comes from the policy. */
export function forbiddenNames(neverRead: readonly string[]): readonly string[] {
  return [...neverRead, ...WIKI_OWN];
}

/** Why a path of the machine may not be touched; undefined where it may. */
export type Forbids = (path: string, right: "read" | "write") => string | undefined;

/** Makes the rule of a task with these wikis: absolute real folders. */
export function makeMcpForbids(
  { policyNever, wikis }: {
    /** The never-list's rule for a path, written without its first slash. */
    readonly policyNever: Forbids;
    readonly wikis: readonly string[];
  },
): Forbids {
  const own = wikis.flatMap((folder) => WIKI_OWN.map((name) => foldPath(`${folder}/${name}`)));
  const kept = [
    ...own,
    ...wikis.flatMap((folder) => WIKI_READ_ONLY.map((name) => foldPath(`${folder}/${name}`))),
  ];
  return (path, right) => {
    const rule = policyNever(path.slice(1), right);
    if (rule !== undefined) return `it is on the never-list (${rule})`;
    const folded = foldPath(path);
    const touched = right === "write"
      // Moving or removing a folder above would take the wiki with it.
      ? kept.some((each) => beneath(each, folded) || beneath(folded, each))
      : own.some((each) => beneath(each, folded));
    return touched ? "it is a wiki's own" : undefined;
  };
}
