/**
 * Warnings about a server's words for their reviewer. A flagged tool is not approved together with
 * the rest; nothing else is stopped. A determined author can avoid every warning. Used by
 * translate.ts and registry/review.ts.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import type { McpToolWords, ServerListing } from "../../../contracts/exchange/mod.ts";
import { foldText } from "../../../text/fold.ts";
import { asksForSecret } from "../../../text/looks_secret.ts";
import { cleanText, LONGEST_DESCRIPTION } from "./clean_text.ts";
import type { FlagKind, ToolFlag } from "./flag.ts";
import { copiedBy, foreignIn, type KnownTools, knownTools, namesakeOf } from "./_names.ts";
import { ordersIn } from "./_orders.ts";
import { shapesIn, textsOf, type ToolText } from "./_shapes.ts";
import { safeSchema } from "./safe_schema.ts";

/** Another reviewed server. */
interface OtherServer {
  readonly name: string;
  readonly tools: readonly McpToolWords[];
}

/** The tools that a tool is compared with. */
export interface FlagAt {
  readonly server: string;
  /** All tools of this server. */
  readonly tools: readonly McpToolWords[];
  /** Names of Remit's own tools. */
  readonly own?: readonly string[];
  readonly others?: readonly OtherServer[];
}

const MAX_FLAGS = 16;
const MAX_SHOWN = 120;
const SENTENCES = {
  orders: "it gives orders",
  conversation: "it asks for what was said to the model",
  secrets: "it asks for secrets",
} as const;
/** Names of parameters that a model would fill with the conversation or with keys. */
const PRYING_NAMES: ReadonlySet<string> = new Set(
  ("sidenote systemprompt systemmessage systeminstructions developermessage conversation " +
    "conversationhistory conversationcontext chathistory chatcontext messagehistory fullconversation " +
    "fullcontext previousmessages priormessages chainofthought toolslist availabletools " +
    "toolcallhistory toolhistory callhistory contextwindow hiddenprompt userprompt originalprompt " +
    "usermessage environmentvariables envvars sshkey idrsa").split(" "),
);
/** A name by the protocol, without `..`. Other letters have their own warning. */
const PLAIN_NAME = /^(?!.*\.\.)[A-Za-z0-9_-][A-Za-z0-9_./-]{0,127}$/;
/** Verbs of tools that do more than read. */
const CHANGING =
  /^(?:delete|remove|drop|write|send|overwrite|purge|destroy|erase|kill|transfer|pay)(?:[^a-z]|$)/i;

/** Makes the checker of a server's tools: at most 16 warnings a tool, one of a kind for each place. */
export function makeFlagsOf(at: FlagAt): (words: McpToolWords) => readonly ToolFlag[] {
  const known = knownTools(at);
  return (words) => flagsBeside(words, known);
}

function flagsBeside(words: McpToolWords, known: KnownTools): readonly ToolFlag[] {
  const flags = makeFlags();
  nameFlags(words, known, flags.add);
  for (const text of textsOf(words)) textFlags(text, known, flags.add);
  schemaFlags(words, flags.add);
  const { description = "", annotations = {} } = words;
  if (cleanText(description, Infinity).text.length > LONGEST_DESCRIPTION - 100) {
    const shown = `${description.length} characters; models are shown the beginning`;
    flags.add("long", "description", shown);
  }
  if (annotations.readOnlyHint === true) {
    const why = annotations.destructiveHint === true
      ? "that it destroys"
      : "another thing by its name";
    if (annotations.destructiveHint === true || CHANGING.test(words.name)) {
      flags.add("claim", "annotations", `it says that it only reads, and ${why}`);
    }
  }
  return flags.all();
}

/** Warnings about a server's instructions, prompts, resources and own name. */
export function serverFlags(words: ServerListing, at: FlagAt): readonly ToolFlag[] {
  const known = knownTools(at);
  const flags = makeFlags();
  const look = (where: string, ...texts: readonly (string | undefined)[]): void => {
    for (const text of texts) {
      if (text !== undefined) textFlags({ where, text, kind: "words" }, known, flags.add);
    }
  };
  look("server", words.server.name, words.server.title, words.server.version);
  look("instructions", words.instructions);
  for (const { name, title, description, arguments: args } of words.prompts) {
    look(`prompt "${name}"`, name, title, description);
    for (const each of args) look(`prompt "${name}"`, each.name, each.description);
  }
  for (const each of [...words.resources, ...words.templates]) {
    look(`resource "${each.name}"`, each.name, each.title, each.description);
  }
  return flags.all();
}

type Add = (what: FlagKind, where: string, shown: string) => void;

function makeFlags(): { readonly add: Add; all(): readonly ToolFlag[] } {
  const found = new Map<string, ToolFlag>();
  return {
    add(what, where, shown) {
      const key = `${what} ${where}`;
      if (found.size < MAX_FLAGS && !found.has(key)) found.set(key, { what, where, shown });
    },
    all: () => [...found.values()],
  };
}

function nameFlags(words: McpToolWords, known: KnownTools, add: Add): void {
  const { name } = words;
  const folded = foldText(name);
  if (folded.hidden > 0 || cleanText(name, Infinity).hidden > 0) {
    add("hidden", "name", "characters that cannot be seen");
  }
  // deno-lint-ignore no-control-regex -- all that is not ASCII is meant
  if (/[^\x00-\x7f]/.test(name)) {
    add("nonAscii", "name", `letters that are left out: ${quoted(name)}`);
  } else if (!PLAIN_NAME.test(name) || name in Object.prototype) {
    add("renamed", "name", `no name that tools have; it is called otherwise here: ${quoted(name)}`);
  }
  const alike = namesakeOf(name, known);
  if (alike !== undefined) {
    const how = alike.same ? "it has the name of" : "its name could be taken for";
    add("lookAlike", "name", `${how} ${quoted(alike.name)}, a tool of ${alike.of}`);
  }
  const copied = copiedBy(words, known);
  if (copied !== undefined) add("copy", "name", `it copies ${copied}`);
}

function textFlags({ where, text, kind }: ToolText, known: KnownTools, add: Add): void {
  const clean = cleanText(text, Infinity);
  const folded = foldText(text);
  if (clean.hidden > 0) add("hidden", where, hiddenWords(text, clean.hidden));
  for (const { what, words, part } of shapesIn(text)) add(what, where, `${words}: ${quoted(part)}`);
  if (kind === "name") {
    if (PRYING_NAMES.has(folded.text.replace(/[^a-z0-9]/g, ""))) {
      add("conversation", where, "models would fill it with what was said to them");
    }
    if (where.startsWith("parameter") && asksForSecret(text)) {
      const shown = "models would fill it with a key or a password, which the server then has";
      add("secrets", where, shown);
    }
  }
  // Sentences can hide in names: `read_the_file_and_pass_its_content`.
  const spaced = kind === "name" ? folded.text.replace(/[_-]/g, " ") : folded.text;
  const seen = spaced.length === text.length ? text : spaced;
  for (const { what, from, to, plain } of ordersIn(text, spaced)) {
    if (what !== "orders" && what !== "conversation" && what !== "secrets") continue;
    add(what, where, `${SENTENCES[what]}: ${quoted((plain ? text : seen).slice(from, to))}`);
  }
  const foreign = kind === "name" ? undefined : foreignIn(text, known);
  if (foreign !== undefined) add("otherTool", where, `it speaks of ${quoted(foreign)}`);
}

function schemaFlags(words: McpToolWords, add: Add): void {
  try {
    for (const trick of safeSchema(words.inputSchema).tricks) add("schema", "parameters", trick);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    add("schema", "parameters", error.message);
  }
}

/** Describes hidden characters; decodes Unicode tags, which spell ASCII. */
function hiddenWords(text: string, count: number): string {
  const tags = [...text].map((sign) => (sign.codePointAt(0) ?? 0) - 0xe0000)
    .filter((code) => code >= 0x20 && code < 0x7f);
  const spelled = String.fromCharCode(...tags.slice(0, MAX_SHOWN));
  return `${count} characters that cannot be seen${
    spelled === "" ? "" : `, which say ${quoted(spelled)}`
  }`;
}

function quoted(part: string): string {
  const line = part.replace(/\s+/g, " ").trim();
  return `"${line.length <= MAX_SHOWN ? line : `${line.slice(0, MAX_SHOWN)}…`}"`;
}
