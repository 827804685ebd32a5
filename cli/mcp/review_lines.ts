/**
 * A server's review as lines: Remit's words at the margin, the server's untrusted words behind `│`.
 * @module
 */
import type { EffectClass } from "../../contracts/authority/mod.ts";
import { isPeer, type McpAccess, type McpToolWords } from "../../contracts/exchange/mod.ts";
import { displayBlock, displayText } from "../../text/mod.ts";
import type { DiffLine, ToolFlag, TranslatedTool } from "../../bridges/mcp/review/mod.ts";
import type { McpReview, StandingRow } from "../../bridges/mcp/registry/review.ts";
import {
  accessWords,
  argumentsWords,
  bytesWords,
  flagLine,
  mayLines,
  notableAccesses,
  runsAs,
} from "./words.ts";
import type { LockedServer } from "../../bridges/mcp/registry/lock.ts";
import { fieldLines } from "../plugin/review.ts";
import { hardWrap, wordWrap } from "../terminal/columns.ts";
import type { Screen } from "../powers.ts";

const MAX_SHORT_LINES = 2;
const MAX_SHOWN_ACCESSES = 12;
const MAX_SHOWN_NAMES = 30;

const STATES: Readonly<Record<LockedServer["state"], string>> = {
  added: "not approved: no task is handed it",
  approved: "approved",
  revoked: "revoked: no task is handed it",
};

function codeWords(server: LockedServer): readonly string[] {
  const { launch, packages } = server;
  switch (launch.kind) {
    case "npm": {
      const { tree } = launch;
      const signed = packages.filter((each) => each.verified).length;
      const of = (count: number): string => `${count} ${count === 1 ? "package" : "packages"}`;
      return [
        `${of(packages.length)}, ${tree.files} files, ${
          bytesWords(tree.bytes)
        }, each as its registry's integrity says`,
        `${signed} of ${of(packages.length)} with a signature that was checked`,
        `tree ${tree.sha256}`,
      ];
    }
    case "program":
      return [
        ...(launch.tree === undefined ? [] : [
          `${packages.length} packages, ${launch.tree.files} files, tree ${launch.tree.sha256}`,
        ]),
        `sha256 ${launch.sha256}`,
      ];
    case "http":
      return ["a machine of somebody else's: what is sent there is theirs"];
  }
}

function walls(server: LockedServer): string {
  switch (server.launch.kind) {
    case "npm":
      return "in a namespace of its own; each access is decided while it runs";
    case "program":
      return "in a namespace of its own with just what it may reach";
    case "http":
      return "elsewhere; through the net service, to one origin";
  }
}

function variableLines(server: LockedServer): readonly string[] {
  return [
    ...Object.entries(server.env).map(([name, value]) =>
      `${displayText(name)}=${displayText(value, { max: 200 })}`
    ),
    ...server.secretEnv.map((name) => `${displayText(name)}, a secret, in its environment`),
    ...server.secretHeaders.map((name) => `header ${displayText(name)}, a secret`),
  ];
}

function deprecated(server: LockedServer): readonly string[] {
  return server.packages.filter((each) => each.deprecated !== undefined).slice(0, 4).map((each) =>
    `${displayText(each.name)} ${displayText(each.version)} is deprecated: ${
      displayText(each.deprecated ?? "", { max: 200 })
    }`
  );
}

const WRITES_NOTE =
  "tools that are taken to read are served by a process that can change nothing, each other call by a " +
  "process of its own: what it keeps in memory is gone with the call; mcp grant --writes TOOL, --reads TOOL";

/** What a server is, where it comes from, what it may do, and what it asked for. */
export function serverLines(
  screen: Layout,
  server: LockedServer,
  accesses: readonly McpAccess[],
): string[] {
  const asked = notableAccesses(accesses, server.grants);
  const variables = variableLines(server);
  const notes = [
    ...(server.grants.write.length === 0 ? [] : [WRITES_NOTE]),
    ...server.notes.map((each) => displayText(each, { max: 500 })),
    ...deprecated(server),
  ];
  return fieldLines(screen, [
    [isPeer(server.launch) ? "peer" : "server", [`${server.name}, ${STATES[server.state]}`]],
    ["from", [displayText(server.from.file ?? server.from.text, { max: 500 })]],
    ["runs as", [
      [runsAs(server.launch), argumentsWords(server.launch)].filter((each) => each !== "").join(
        " ",
      ),
      ...codeWords(server),
      walls(server),
    ]],
    ["may", mayLines(server)],
    ...(variables.length === 0 ? [] : [["is given", variables] as const]),
    ...(asked.length === 0 ? [] : [
      [
        "asked for",
        [
          ...asked.slice(0, MAX_SHOWN_ACCESSES).map(accessWords),
          ...(asked.length > MAX_SHOWN_ACCESSES
            ? [`and ${asked.length - MAX_SHOWN_ACCESSES} more`]
            : []),
        ],
      ] as const,
    ]),
    ...(notes.length === 0 ? [] : [["notes", notes] as const]),
  ]);
}

const EFFECTS: Readonly<Record<EffectClass, string>> = {
  read: "can change nothing",
  stage: "its changes are reviewed before they are there",
  mutateLocal: "can change what it may change, at once",
  outboundRead: "can send to where it may reach",
  outboundWrite: "can send and change things there",
  destructive: "says that it destroys",
  admin: "administers",
};

const STANDS: Readonly<Record<StandingRow["stands"], string>> = {
  pinned: "pinned",
  changed: "CHANGED since it was pinned",
  new: "new",
};

function toolLines(
  screen: Layout,
  row: StandingRow,
  parts: {
    readonly tool: TranslatedTool | undefined;
    readonly words: McpToolWords | undefined;
    readonly whole: boolean;
  },
): string[] {
  const { paint } = screen, { tool, words, whole } = parts;
  const name = displayText(row.tool, { max: 256 });
  if (row.refused !== undefined || tool === undefined) {
    const why = displayText(row.refused ?? "it was left out", { max: 500 });
    return [`  ${paint.red(paint.bold(name))}  ${paint.red("cannot be imported:")} ${why}`];
  }
  const stands = row.stands === "changed"
    ? paint.red(STANDS.changed)
    : paint.dim(STANDS[row.stands]);
  return [
    `  ${paint.bold(name)}  ${tool.effect}: ${EFFECTS[tool.effect]}  ${stands}${
      row.off ? paint.yellow("  off") : ""
    }`,
    ...flagLines(screen, row.flags),
    ...(whole
      ? [
        `    models call it ${tool.name}, and are told:`,
        ...untrustedLines(screen, tool.description),
        "    it takes:",
        ...untrustedLines(screen, tool.paramSchema),
        ...(tool.resultSchema === undefined
          ? []
          : ["    it gives:", ...untrustedLines(screen, tool.resultSchema)]),
        ...row.notes.flatMap((note) =>
          ownLines(screen, `    left out: ${displayText(note, { max: 300 })}`)
        ),
        `    digest ${tool.digest}`,
      ]
      : untrustedLines(screen, words?.description ?? tool.description, MAX_SHORT_LINES)),
  ];
}

function offerLines(screen: Layout, review: McpReview, whole: boolean): string[] {
  const { words, flags } = review;
  const names = (list: readonly string[]): string[] =>
    untrustedLines(screen, list.slice(0, MAX_SHOWN_NAMES).join("\n")).concat(
      list.length > MAX_SHOWN_NAMES ? [`      … ${list.length - MAX_SHOWN_NAMES} more`] : [],
    );
  const section = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : [`  ${screen.paint.bold(title)}`, ...lines];
  const { instructions = "" } = words;
  return [
    ...section("left out", words.left.flatMap((each) => untrustedLines(screen, each))),
    ...section(
      "resources",
      names([
        ...words.resources.map(({ uri, name }) => uri ?? name),
        ...words.templates.map(({ uriTemplate, name }) => uriTemplate ?? name),
      ]),
    ),
    ...section(
      "prompts",
      names(
        words.prompts.map(({ name, description = "" }) =>
          description === "" ? name : `${name}: ${description}`
        ),
      ),
    ),
    ...(instructions === "" ? [] : [
      `  ${screen.paint.bold("instructions")}  no model is told these`,
      ...untrustedLines(screen, instructions, whole ? UNLIMITED : MAX_SHORT_LINES),
    ]),
    ...flagLines(screen, flags),
  ];
}

/** The tools of a review, in short, or with `whole` exactly as they would be pinned. */
export function reviewLines(
  screen: Layout,
  review: McpReview,
  parts: { readonly whole: boolean },
): string[] {
  const { words, rows, changes, gone } = review, { whole } = parts;
  const translated = new Map(review.translation.tools.map((each) => [each.tool, each]));
  const said = new Map(words.tools.map((each) => [each.name, each]));
  const { name, version } = words.server;
  return [
    ...fieldLines(screen, [[
      "says",
      [
        `it is ${displayText(name, { max: 200 })} ${displayText(version, { max: 100 })}; ` +
        `protocol ${displayText(words.protocol)}`,
      ],
    ]]),
    "",
    ...rows.flatMap((row) =>
      toolLines(screen, row, {
        tool: translated.get(row.tool),
        words: said.get(row.tool),
        whole,
      })
    ),
    ...offerLines(screen, review, whole),
    ...changes.flatMap(({ tool, lines }) => [
      `  ${screen.paint.red(screen.paint.bold(displayText(tool, { max: 256 })))}  what changed:`,
      ...diffLines(screen, lines),
    ]),
    ...gone.map((tool) =>
      `  ${screen.paint.red(displayText(tool, { max: 256 }))}  was pinned, and is gone`
    ),
  ];
}

type Layout = Pick<Screen, "paint" | "width">;

/** A limit that no shown text reaches: nothing of what is pinned may be cut. */
const UNLIMITED = 1_000_000;

/** Untrusted text, `max` lines of it behind `│` so that none passes for Remit's words. */
export function untrustedLines(screen: Layout, text: string, max = UNLIMITED): string[] {
  const columns = Math.max(24, screen.width - 9);
  const all = displayBlock(text, {
    prefix: "",
    max: UNLIMITED,
    maxLines: 100_000,
    columns: UNLIMITED,
  })
    .flatMap((line) =>
      wordWrap(line, columns).map((piece, n) => `      ${n === 0 ? "│" : "│ ↪"} ${piece}`.trimEnd())
    );
  const rest = all.length - max;
  return rest <= 0
    ? all
    : [...all.slice(0, max), `      … ${rest} more ${rest === 1 ? "line" : "lines"}`];
}

/** A line of Remit's own words, wrapped between words. */
function ownLines(screen: Layout, text: string): string[] {
  return wordWrap(text, Math.max(40, screen.width - 1));
}

function flagLines(screen: Layout, flags: readonly ToolFlag[]): string[] {
  const columns = Math.max(40, screen.width - 7);
  return flags.flatMap((flag) =>
    wordWrap(flagLine(flag), columns).map((line, n) =>
      screen.paint.red(`    ${n === 0 ? "!" : " "} ${line}`)
    )
  );
}

/** Lines of a diff; those marked `@` are Remit's own words. */
function diffLines(screen: Layout, lines: readonly DiffLine[]): string[] {
  const { paint } = screen;
  const columns = Math.max(24, screen.width - 10);
  return lines.flatMap(({ mark, text }) => {
    if (mark === "@") return [`    ${displayText(text, { max: 200 })}`];
    const colour = mark === "-" ? paint.red : mark === "+" ? paint.green : (line: string) => line;
    return hardWrap(displayText(text, { max: UNLIMITED }), columns).map((piece, n) =>
      `      ${n === 0 ? "│" : "│ ↪"} ${colour(`${mark} ${piece}`)}`.trimEnd()
    );
  });
}
