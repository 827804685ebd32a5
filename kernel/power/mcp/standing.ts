/** Whether the tools of an imported server still are what was reviewed: a changed one stands no more in its task. @module */
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

/** Names on the wire of what differs from what was reviewed. */
export type McpChanges = (
  pinned: readonly Pick<ImportedTool, "tool" | "digest">[],
  words: readonly McpToolWords[],
) => {
  readonly changed: readonly string[];
  readonly missing: readonly string[];
  readonly added: readonly string[];
};

/** The tools of one server in one task. */
export interface McpStanding {
  /** Holds what the server says now against what was reviewed; the same words are looked at once. */
  check(words: Pick<ServerListing, "tools">): void;
  /** Why a tool may not be called, in words; undefined when it stands. */
  why(tool: Pick<ImportedTool, "tool">): string | undefined;
  /** Why nothing of it may be called, in words: it is a peer whose card is another. */
  whyNothing(): string | undefined;
}

/** Makes it: everything stands until the server has said what it is. */
export function makeMcpStanding(
  at: McpAt & { readonly server: Pick<ImportedServer, "tools" | "launch"> },
  { changes, log }: { readonly changes: McpChanges; readonly log: Pick<McpLog, "note"> },
): McpStanding {
  // INVARIANT: a tool that changed stays out, also when it changes back (test: "… back again …").
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

/** What of a peer's card is another than was pinned, in words; undefined when it is the same. */
function cardChange(launch: ImportedServer["launch"], words: object): string | undefined {
  if (!isPeer(launch)) return undefined;
  const { endpoint, binding, keys } = launch.a2a;
  const facts = PeerFacts.safeParse("peer" in words ? words.peer : undefined);
  if (!facts.success) return "its card cannot be read any more";
  const { data } = facts;
  if (data.endpoint !== endpoint || data.binding !== binding) {
    return "its card changed since it was reviewed: it listens elsewhere";
  }
  // One of the keys that signed it must still do so: others may come and go.
  const signs = keys.length === 0 || keys.some((key) => data.keys.includes(key));
  return signs
    ? undefined
    : "its card changed since it was reviewed: whoever signed it then does not now";
}

// What no imported server touches, though it was granted a folder around it: the never-list, and what is a wiki's own.

/** What in a wiki's folder is written by its own process alone; and what a person writes, and no tool. */
const OWN = ["raw", "pages", "index.md", "log.md"];
const READ_ONLY = ["AGENTS.md"];

/** Globs of names in which all that may not be read ends; `neverRead` is the policy's. */
export function forbiddenNames(neverRead: readonly string[]): readonly string[] {
  return [...neverRead, ...OWN];
}

/** Why a path of the machine may not be touched, in words; undefined when it may. */
export type Forbids = (path: string, right: "read" | "write") => string | undefined;

/** Makes the rule of a task that knows of these wikis: folders, absolute and real. */
export function makeMcpForbids(
  { policyNever, wikis }: {
    /** The rule that keeps every tool from a path, which is written without its first slash. */
    readonly policyNever: Forbids;
    readonly wikis: readonly string[];
  },
): Forbids {
  const own = wikis.flatMap((folder) => OWN.map((name) => foldPath(`${folder}/${name}`)));
  const kept = [
    ...own,
    ...wikis.flatMap((folder) => READ_ONLY.map((name) => foldPath(`${folder}/${name}`))),
  ];
  return (path, right) => {
    const rule = policyNever(path.slice(1), right);
    if (rule !== undefined) return `it is on the never-list (${rule})`;
    const folded = foldPath(path);
    const touched = right === "write"
      // A folder above is moved or removed with the wiki in it.
      ? kept.some((each) => beneath(each, folded) || beneath(folded, each))
      : own.some((each) => beneath(each, folded));
    return touched ? "it is a wiki's own" : undefined;
  };
}
