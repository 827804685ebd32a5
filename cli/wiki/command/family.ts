/** The `wiki` commands, for help, parsing and dispatch. @module */
import { type CommandSpec, type FlagSpec, simple } from "../../arguments/command_spec.ts";
import { family } from "../../arguments/family.ts";

const WIKI: FlagSpec = {
  name: "wiki",
  value: "FOLDER",
  help: "which wiki; absent: this folder's or one's above it, else the one last made",
};
const YES: FlagSpec = { name: "yes", short: "y", help: "go on without asking; it is still shown" };
const CLEARANCE: FlagSpec = {
  name: "clearance",
  value: "public|internal|secret",
  help: "show nothing more confidential than this; absent: all",
};
const COLOUR: FlagSpec = {
  name: "colour",
  value: "BLUE|YELLOW|RED",
  help: "how far it is trusted: files YELLOW, the web RED; more than that asks you at the terminal",
};
/** `--label`. */
export const LABEL: FlagSpec = {
  name: "label",
  value: "public|internal|secret",
  help: "how confidential it is; absent: internal, and public for the web",
};
/** `--model` of commands that ask one. */
export const ASKED: FlagSpec = {
  name: "model",
  value: "REF",
  help: "the model that is asked; absent: the one of remit.yaml",
};
/** `--max-cost`, with the help of the command. */
export const maxCost = (help: string): FlagSpec => ({ name: "max-cost", value: "USD", help });
const NO_PAGES: FlagSpec = { name: "no-pages", help: "make no pages of the sources" };
const AT: FlagSpec = { name: "at", value: "N", help: "this version of a page; absent: the newest" };

const of = (
  name: string,
  args: string,
  takes: readonly [number, number],
  help: string,
  examples: readonly string[],
  flags: readonly FlagSpec[] = [],
): CommandSpec => simple(`wiki ${name}`, args, takes, help, examples, [WIKI, ...flags]);

/** `wiki …`, in the order in which help lists them. */
const WIKI_COMMANDS: readonly CommandSpec[] = [
  simple(
    "wiki init",
    "FOLDER",
    [1, 1],
    "make a wiki, or take in one that was moved or cloned",
    ["remit wiki init ~/notes", "remit wiki init ./cloned-wiki"],
  ),
  of(
    "ingest",
    "PATH|URL|-...",
    [1, 1_000],
    "take documents, folders, URLs or standard input in; exit 1 when one failed",
    [
      "remit wiki ingest docs",
      "remit wiki ingest https://example.org/paper.pdf --ttl 30d",
      "git log | remit wiki ingest - --name history.txt",
      "remit wiki ingest docs --model anthropic:NAME --max-cost 0.50",
    ],
    [
      LABEL,
      COLOUR,
      {
        name: "ttl",
        value: "TIME",
        help: "how long it is found: 12h, 30d, 8w, 1y; absent: always",
      },
      { name: "owner", value: "NAME", help: "whose it is; absent: you" },
      { name: "name", value: "NAME", help: "what - is called; its ending says the kind" },
      {
        ...ASKED,
        help: "have a model read what is named: shows tokens, price and time, asks once",
      },
      maxCost("with --model: stop cleanly before more is spent; the same command goes on"),
      NO_PAGES,
      YES,
    ],
  ),
  of(
    "query",
    "QUESTION...",
    [1, 1_000],
    "the best passages with file and line; exit 68 when nothing fits",
    [
      'remit wiki query "what is a lease?"',
      'remit wiki query "retention" --k 10 --within sources --json',
      'remit wiki query "what is a lease?" --answer --model ollama:qwen3:4b --file',
      'remit wiki query "when does my right to a file end?" --expand --model ollama:qwen3:4b',
      'remit wiki query "who ends a lease?" --rerank --model ollama:qwen3:4b --max-cost 0.01',
    ],
    [
      { name: "k", value: "N", help: "passages, at most 100; absent: 5" },
      { name: "within", value: "pages|sources", help: "look through these alone" },
      CLEARANCE,
      { name: "no-vectors", help: "compare words alone, also where the wiki has vectors" },
      {
        name: "answer",
        help: "let a model answer from the passages, each sentence cited or marked",
      },
      { name: "file", help: "with --answer: propose the answer as a page" },
      {
        name: "expand",
        help: "let a model word the question as documents would, and search for that, too; kept",
      },
      { name: "no-expand", help: "with --answer: search by the question's own words alone" },
      { name: "rerank", help: "let a model put the best 20 passages in order; shows the cost" },
      ASKED,
      maxCost("with --answer, --expand or --rerank: refuse when it may cost more"),
    ],
  ),
  of(
    "lint",
    "",
    [0, 0],
    "what has gone wrong; exit 0 when clean or with warnings only, 1 with errors",
    [
      "remit wiki lint",
      "remit wiki lint --fix",
      "remit wiki lint --rule brokenCitation --json",
      "remit wiki lint --model ollama:qwen3:4b --max-cost 0.10",
    ],
    [
      { name: "fix", help: "propose patches for what can be fixed; at a terminal each is decided" },
      { name: "rule", value: "RULE", help: "this rule alone, as brokenCitation or stalePage" },
      {
        ...ASKED,
        help: "let a model look for contradictions, too: shows tokens, price and time, asks once",
      },
      maxCost("with --model: stop before more is spent; the same command goes on"),
      YES,
    ],
  ),
  of(
    "show",
    "PAGE|raw/FILE",
    [1, 1],
    "a page, or a source's lines",
    ["remit wiki show leases", "remit wiki show raw/lease.3f2a90bc12de.md --lines 10-20"],
    [{ name: "lines", value: "A-B", help: "these lines alone" }, AT, CLEARANCE],
  ),
  of("list", "", [0, 0], "the pages, the sources, or your wikis", [
    "remit wiki list",
    "remit wiki list --sources",
    "remit wiki list --wikis",
  ], [
    { name: "sources", help: "the sources: kind, trust, when, whose, from where, until when" },
    { name: "wikis", help: "the wikis that this state knows" },
    CLEARANCE,
  ]),
  of("status", "", [0, 0], "how a wiki stands: pages, sources, index, what waits", [
    "remit wiki status",
  ]),
  of(
    "edit",
    "PAGE",
    [1, 1],
    "change a page with $EDITOR; a conflict keeps your text in a file, exit 1",
    ["remit wiki edit leases", "EDITOR='code --wait' remit wiki edit leases"],
    [{ ...YES, help: "make the page when there is none" }],
  ),
  of("history", "PAGE", [1, 1], "every version of a page", ["remit wiki history leases"], [
    CLEARANCE,
  ]),
  of("diff", "PAGE [A] [B]", [1, 3], "two versions of a page; absent: the last two", [
    "remit wiki diff leases",
    "remit wiki diff leases 1 3",
  ]),
  of(
    "review",
    "[PATCH]",
    [0, 1],
    "patches that wait; one of them, to apply or reject; or that you read a page",
    [
      "remit wiki review",
      "remit wiki review w3k9x0f2ab7c",
      "remit wiki review w3k9x0f2ab7c --apply",
      "remit wiki review --all",
      "remit wiki review --page leases",
    ],
    [
      { name: "apply", help: "apply it without asking; exit 1 for a conflict" },
      { name: "reject", help: "reject it without asking" },
      { name: "all", help: "every patch that waits" },
      { name: "page", value: "PAGE", help: "say that you have read this page and found it right" },
      AT,
    ],
  ),
  of("sanitize", "PAGE", [1, 1], "sign that this very version of a page is trusted more", [
    "remit wiki sanitize leases --colour YELLOW",
  ], [{ name: "colour", value: "YELLOW|BLUE", help: "how far; it is shown, asked and signed" }]),
  of("redact", "PAGE", [1, 1], "sign that this very version of a page is less confidential", [
    "remit wiki redact leases --label public",
  ], [{ name: "label", value: "internal|public", help: "how confidential it is then" }]),
  of(
    "notes",
    "[list|keep|reject] [NOTE]",
    [0, 2],
    "what agents wished to remember; keep or reject one",
    ["remit wiki notes", "remit wiki notes keep n3k9x0f2ab7c"],
    [
      { name: "kind", value: "taskLog|projectWiki|userMemory", help: "of this kind" },
      { name: "all", help: "also what was kept or rejected" },
      CLEARANCE,
    ],
  ),
  of("log", "", [0, 0], "the append-only record of what was done", [
    "remit wiki log",
    "remit wiki log --verify",
  ], [{ name: "verify", help: "whether the record and log.md hold; exit 1 when not" }]),
  of("watch", "FOLDER", [1, 1], "take in what changes in a folder, until Ctrl-C", [
    "remit wiki watch docs",
  ], [
    LABEL,
    { ...COLOUR, value: "YELLOW|RED", help: "how far it is trusted; absent: YELLOW" },
    NO_PAGES,
  ]),
  of("export", "--to DIR", [0, 0], "a static site that works offline", [
    "remit wiki export --to ./site",
    "remit wiki export --to ./public-site --clearance public",
  ], [
    { name: "to", value: "DIR", help: "an empty folder, or that of an earlier export" },
    CLEARANCE,
  ]),
  of("reindex", "", [0, 0], "build the search index anew from the files", ["remit wiki reindex"]),
  of(
    "embed",
    "",
    [0, 0],
    "make vectors, so that questions find what is worded otherwise",
    ["remit wiki embed", "remit wiki embed --embedder ollama:nomic-embed-text"],
    [
      { name: "embedder", value: "REF", help: "absent: the one of remit.yaml" },
      {
        name: "label",
        value: "public|internal|secret",
        help: "how confidential the texts are; absent: secret, which stays on this machine",
      },
    ],
  ),
];

/** The family of `wiki` commands. */
export const WIKIS = family(WIKI_COMMANDS, [
  "screen",
  "disk",
  "environment",
  "kernels",
  "interrupts",
  "keyboard",
  "watch",
  "wikis",
], {
  "wiki init": async () => (await import("./init.ts")).wikiInit,
  "wiki ingest": async () => {
    const { wikiIngest } = await import("./ingest.ts");
    return async (command) => await wikiIngest(await command.more());
  },
  "wiki query": async () => (await import("./query.ts")).wikiQuery,
  "wiki lint": async () => {
    const { wikiLint } = await import("./lint.ts");
    return async (command) => await wikiLint(await command.more());
  },
  "wiki show": async () => (await import("./show.ts")).wikiShow,
  "wiki list": async () => (await import("./list.ts")).wikiList,
  "wiki status": async () => (await import("./read.ts")).wikiStatus,
  "wiki edit": async () => (await import("./edit.ts")).wikiEdit,
  "wiki history": async () => (await import("./read.ts")).wikiHistory,
  "wiki diff": async () => (await import("./read.ts")).wikiDiff,
  "wiki review": async () => (await import("./review.ts")).wikiReview,
  "wiki sanitize": async () => (await import("./mark.ts")).wikiSanitize,
  "wiki redact": async () => (await import("./mark.ts")).wikiRedact,
  "wiki notes": async () => (await import("./notes.ts")).wikiNotes,
  "wiki log": async () => (await import("./read.ts")).wikiLog,
  "wiki watch": async () => (await import("./keep.ts")).wikiWatch,
  "wiki export": async () => (await import("./export.ts")).wikiExport,
  "wiki reindex": async () => (await import("./keep.ts")).wikiReindex,
  "wiki embed": async () => {
    const { wikiEmbed } = await import("./keep.ts");
    return async (command) => await wikiEmbed(await command.more());
  },
}, ["mcpStore", "models"]);
