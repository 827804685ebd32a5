/**
 * `sanitize`: a person reviews exactly the bytes of one untrusted item, and signs that those bytes are more trusted.
 * docs/sanitize.md.
 * @module
 */
import { join } from "node:path";
import {
  ArtifactId,
  Colour,
  colourSuffices,
  Label,
  TaskId,
} from "../../contracts/authority/mod.ts";
import { EXIT, Fault, type Json, toJson } from "../../contracts/base/mod.ts";
import {
  sanitizeClaim,
  type SanitizedKind,
  SanitizeMark,
  TRIVIAL_BYTES,
} from "../../contracts/memory/mod.ts";
import { Outcome } from "../../contracts/tool/mod.ts";
import { canonicalJson } from "../../port/mod.ts";
import { sha256Hex } from "../../port/digest.ts";
import { displayBlock, displayText } from "../../text/mod.ts";
import { hiddenIn } from "../../text/hidden.ts";
import { oneOf } from "../arguments/parse_arguments.ts";
import {
  cell,
  type Command,
  commandText,
  printJson,
  printLines,
  reachKernel,
  recordOf,
  rowsOf,
  taskOf,
  withKernel,
} from "../command.ts";
import { readMessages } from "../conversation/message_lines.ts";
import { absolute } from "../../launch/disk/places.ts";
import type { Basic } from "../powers.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import { readPassphrase } from "../key/passphrase.ts";
import { openKeyRing } from "../../config/key/ring.ts";
import { readContent } from "../question/shown_content.ts";
import { tableLines } from "../terminal/table.ts";

/** An untrusted item with all its bytes. */
interface Item {
  /** Its name on a command line: `TASK/CALL`, an artifact's id, a path. */
  readonly name: string;
  /** A description for people. Untrusted. */
  readonly what: string;
  readonly kind: SanitizedKind;
  readonly task: TaskId | undefined;
  readonly bytes: Uint8Array;
  readonly digest: ReturnType<typeof sha256Hex>;
  /** Its colour without any signature; an unknown file counts as RED, the worst that its folder may be. */
  readonly colour: Colour;
  readonly label: Label;
}

/** Most characters of a text that a person can plausibly review. */
const MAX_REVIEWED = 1_000_000;
/** Items in one request for signatures. */
const PAGE = 1_000;
/** Beginnings of messages of failed calls, which are partly Remit's own words. */
const FAILED = Outcome.options.filter((each) => each !== "ok").map((each) => `${each}: `);

function itemOf(
  of: Omit<Item, "digest" | "bytes"> & { readonly content: string | Uint8Array },
): Item {
  const { content, ...rest } = of;
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  return { ...rest, bytes, digest: sha256Hex(bytes) };
}

/** The results of a task's calls, as its model saw them. */
async function resultsOf(link: KernelLink, task: TaskId): Promise<readonly Item[]> {
  const { messages } = await readMessages(link, "conversation", { conversation: task });
  return messages.flatMap(({ role, content, toolCallId, toolName, provenance }) => {
    const { colour, label } = provenance;
    if (role !== "tool" || toolCallId === undefined || colour === "BLUE") return [];
    if (FAILED.some((head) => content.startsWith(head))) return [];
    const what = `what ${toolName ?? "a tool"} answered`;
    const name = `${task}/${toolCallId}`;
    return [itemOf({ name, what, kind: "result", task, content, colour, label })];
  });
}

/** The artifacts of a task, or of all tasks. */
async function artifactsOf(
  command: Command,
  link: KernelLink,
  task: TaskId | undefined,
): Promise<readonly Item[]> {
  const { places, powers } = command;
  return rowsOf(await link.ask("outbox", task === undefined ? {} : { task })).flatMap((row) => {
    const [id, of, digest] = ["id", "task", "digest"].map((each) => String(row[each]));
    if (id === undefined || of === undefined || digest === undefined) return [];
    const colour = Colour.parse(row["colour"]), label = Label.parse(row["label"]);
    const folder = join(places.kernel, "work", of, "content");
    if (colour === "BLUE" || powers.disk.stat(join(folder, digest)) === undefined) return [];
    const content = readContent(powers.disk, folder, digest as Item["digest"]);
    const what = `artifact "${String(row["name"])}"`;
    return [
      itemOf({ name: id, what, kind: "file", task: TaskId.parse(of), content, colour, label }),
    ];
  });
}

/** A file on the disk, with the state's knowledge of its bytes. */
async function fileOf(command: Command, link: KernelLink, path: string): Promise<Item> {
  const { disk, environment } = command.powers, name = absolute(environment, path);
  const content = disk.read(name, { most: MAX_REVIEWED * 4 });
  if (content === undefined) {
    throw new Fault(
      "notFound",
      `Cannot find "${path}": it is no file; name a result as TASK/CALL, an artifact by its id, or a file by its path (\`sanitize list TASK\` shows a task's)`,
    );
  }
  const item = itemOf({
    ...{ name, what: "file", kind: "file", task: undefined, content },
    ...{ colour: "RED", label: "public" },
  });
  const [found] = await signaturesOf(link, [item]);
  const { colour, label } = found?.known ?? item;
  // Unrecorded bytes have the colour of their folder, which may be RED.
  return { ...item, label, colour: colour === "BLUE" ? "RED" : colour };
}

interface Signature {
  readonly known: { readonly colour: Colour; readonly label: Label };
  readonly signed: Colour | undefined;
}

async function signaturesOf(
  link: KernelLink,
  items: readonly Pick<Item, "kind" | "digest">[],
): Promise<readonly Signature[]> {
  const found: Signature[] = [];
  for (let at = 0; at < items.length; at += PAGE) {
    const asked = items.slice(at, at + PAGE).map(({ kind, digest }) => ({ kind, digest }));
    for (const row of rowsOf(recordOf(await link.ask("signed", { items: asked }))["items"] ?? [])) {
      const { colour, label } = recordOf(row["known"]);
      found.push({
        known: { colour: Colour.parse(colour), label: Label.parse(label) },
        signed: row["signed"] === null ? undefined : Colour.parse(row["signed"]),
      });
    }
  }
  return found;
}

async function findItem(command: Command, link: KernelLink, word: string): Promise<Item> {
  const slash = word.indexOf("/"), task = TaskId.safeParse(word.slice(0, slash));
  if (task.success) {
    const found = (await resultsOf(link, task.data)).findLast(({ name }) => name === word);
    if (found !== undefined) return found;
    throw new Fault(
      "notFound",
      `Cannot find "${word}": task ${task.data} has no such result that is not BLUE; \`sanitize list ${task.data}\` shows them`,
    );
  }
  if (!ArtifactId.safeParse(word).success) return await fileOf(command, link, word);
  const found = (await artifactsOf(command, link, undefined)).find(({ name }) => name === word);
  if (found !== undefined) return found;
  throw new Fault(
    "notFound",
    `Cannot find "${word}": there is no such artifact whose content is there and not BLUE`,
  );
}

/** An item as text. @throws Fault `refused` for an item that a person cannot review */
function textOf({ name, bytes }: Item): string {
  const refuse = (why: string, cause?: unknown): Fault =>
    new Fault("refused", `Cannot sanitize "${name}": ${why}`, { cause });
  if (bytes.length < TRIVIAL_BYTES) {
    throw refuse(
      `it has ${bytes.length} bytes; the same ${TRIVIAL_BYTES - 1} or fewer come from anywhere`,
    );
  }
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw refuse("it is no text in UTF-8, and nobody can look through it", cause);
  }
  if (text.length <= MAX_REVIEWED) return text;
  throw refuse(`it has more than ${MAX_REVIEWED} characters, which nobody looks through`);
}

/** The hidden content of a text, in words. */
function hiddenWords(text: string): string {
  const found = hiddenIn(text).map(({ what, count }) => `${count} ${what}`);
  return found.length === 0 ? "nothing that Remit knows of" : found.join("; ");
}

function itemLines(item: Item, text: string, signed: Colour | undefined): readonly string[] {
  const line = (head: string, words: string): string => `${head.padEnd(8)} ${words}`;
  return [
    line(
      "item",
      `${displayText(item.name, { max: 512 })}  (${displayText(item.what, { max: 300 })})`,
    ),
    line("bytes", `${item.bytes.length}, sha256 ${item.digest}`),
    line("state", `colour ${item.colour}, label ${item.label}`),
    ...(signed === undefined ? [] : [line("signed", `you signed that it is ${signed}`)]),
    line("hidden", hiddenWords(text)),
    "",
    ...displayBlock(text, { prefix: "│ ", maxLines: 1_000_000, max: MAX_REVIEWED * 16 }),
    "",
  ];
}

/** `sanitize list TASK`. */
export async function sanitizeList(command: Command): Promise<number> {
  const link = await reachKernel(command), task = taskOf(command);
  try {
    const items = [...await resultsOf(link, task), ...await artifactsOf(command, link, task)];
    const signed = (await signaturesOf(link, items)).map((each) => each.signed);
    const hidden = items.map(({ bytes }) => hiddenIn(new TextDecoder().decode(bytes)));
    if (command.json) {
      const rows = items.map(({ bytes, ...item }, n) => ({
        ...{ ...item, bytes: bytes.length, hidden: hidden[n] ?? [], signed: signed[n] ?? null },
      }));
      printJson(command, rows);
      return EXIT.success;
    }
    const rows = items.map(({ name, colour, label, bytes, what }, n) => [
      ...[cell(name, 200), colour, label, `${bytes.length} B`],
      String(hidden[n]?.reduce((sum, { count }) => sum + count, 0) ?? 0),
      ...[signed[n] ?? "", cell(what, 200)],
    ]);
    const heads = ["ITEM", "COLOUR", "LABEL", "SIZE", "HIDDEN", "SIGNED", "WHAT"];
    printLines(
      command,
      tableLines(
        heads,
        rows,
        command.powers.screen.width,
        "nothing of this task is YELLOW or RED: nothing to sanitize",
      ),
    );
    if (rows.length > 0) {
      const { screen } = command.powers;
      screen.say(screen.paint.dim(`look with: ${commandText(command, "sanitize show ITEM")}`));
    }
    return EXIT.success;
  } finally {
    link.close();
  }
}

/** `sanitize show ITEM`. */
export async function sanitizeShow(command: Command): Promise<number> {
  return await withKernel(command, async (link) => {
    const item = await findItem(command, link, command.parsed.args[0] ?? "");
    const text = textOf(item), [found] = await signaturesOf(link, [item]);
    if (command.json) {
      const { bytes, ...rest } = item;
      const more = { hidden: hiddenIn(text), signed: found?.signed ?? null, text };
      printJson(command, { ...rest, bytes: bytes.length, ...more });
    } else printLines(command, itemLines(item, text, found?.signed));
    return EXIT.success;
  });
}

/** `sanitize ITEM`: shows the whole item, and signs exactly the shown bytes with the passphrase key. */
export async function sanitizeCommand(command: Command<Basic | "keyboard">): Promise<number> {
  const { powers, parsed, places } = command, { screen } = powers;
  const to = oneOf(parsed, "colour", ["YELLOW", "BLUE"]) ?? "YELLOW";
  return await withKernel(command, async (link) => {
    const item = await findItem(command, link, parsed.args[0] ?? "");
    const text = textOf(item), [found] = await signaturesOf(link, [item]);
    const { name, kind, task, digest, bytes, colour, label } = item;
    if (colourSuffices(found?.signed ?? colour, to)) {
      throw new Fault(
        "conflict",
        `Cannot sanitize "${name}": it is ${found?.signed ?? colour} already`,
      );
    }
    for (const line of itemLines(item, text, found?.signed)) screen.say(line);
    screen.say(
      `You sign that exactly these ${bytes.length} bytes are ${to}, wherever they come again as this kind of item.`,
    );
    screen.say("Your passphrase says that you looked through all of it; Enter alone is no.");
    const ring = openKeyRing(powers.disk, places);
    const signer = ring.openStepUp(await readPassphrase(command, "passphrase-file", "passphrase"));
    const unsigned = {
      ...{ kind, name: name.slice(0, 512).toWellFormed(), digest, bytes: bytes.length, to },
      ...(task === undefined ? {} : { task }),
      from: { colour, label },
      by: powers.environment.env("USER") ?? "operator",
      ...{ at: powers.environment.now(), key: signer.key },
    };
    const mark = SanitizeMark.parse({
      ...unsigned,
      signature: signer.sign(canonicalJson(sanitizeClaim(unsigned))),
    });
    const event: Json = await link.ask("sanitize", toJson(mark));
    if (command.json) printJson(command, { mark, event });
    else {
      const { chain, n } = recordOf(event);
      printLines(command, [
        `${displayText(name)}: ${colour} → ${to}, ${label} as before; event ${cell(n)} of ${
          cell(chain)
        }`,
      ]);
    }
    return EXIT.success;
  });
}
