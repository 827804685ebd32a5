/** A patch of wiki pages: showing it, asking for a decision, printing the outcome. @module */
import { EXIT, type ExitCode, unreachable } from "../../contracts/base/mod.ts";
import { displayBlock, displayText } from "../../text/mod.ts";
import { type Command, commandText } from "../command.ts";
import type { Paint } from "../terminal/paint.ts";
import { type PatchAnswer, readPatch, readPatchDiff } from "../../memory-wiki/host/answers.ts";
import { counted, marksOf, type OpenWiki, operatorName } from "./command.ts";
import type { Basic } from "../powers.ts";

const MAX_DIFF_LINES = 2_000;
/** Up to this many patches are asked about one by one. */
const MAX_ONE_BY_ONE = 3;
const MAX_LISTED = 20;

/** Lines of a unified diff, escaped and coloured. */
export function diffLines(paint: Paint, diff: string): readonly string[] {
  return displayBlock(diff, { prefix: "  ", maxLines: MAX_DIFF_LINES, max: 400_000, columns: 160 })
    .map(
      (line) => {
        const mark = line.slice(2, 3);
        if (/^ {2}(\+\+\+|---) /.test(line)) return paint.bold(line);
        if (mark === "+") return paint.green(line);
        if (mark === "-") return paint.red(line);
        return mark === "@" ? paint.cyan(line) : line;
      },
    );
}

/** Reads a patch with its diff and prints its head: id, pages, author, marks, reason. */
export async function showPatch(
  command: Command,
  wiki: OpenWiki,
  id: PatchAnswer["id"],
): Promise<{ readonly patch: PatchAnswer; readonly diff: string }> {
  const { screen } = command.powers;
  const { paint } = screen;
  const { patch, diff } = readPatchDiff(await wiki.ask("patch", { id }));
  const by = displayText(patch.author, { max: 100 });
  const marks = marksOf(command, patch);
  screen.say(
    `${paint.bold(patch.id)}  ${counted(patch.changes.length, "page")} by ${by}${
      marks === "" ? "" : `  ${marks}`
    }`,
  );
  screen.say(`  ${displayText(patch.reason, { max: 300 })}`);
  return { patch, diff };
}

/** At a terminal, shows a proposed patch and asks about it; elsewhere the patch keeps waiting. */
export async function decideNow(
  command: Command<Basic | "keyboard">,
  wiki: OpenWiki,
  patch: PatchAnswer,
): Promise<PatchAnswer> {
  const { keyboard, screen } = command.powers;
  if (patch.state !== "proposed" || keyboard === undefined) {
    sayPatch(command, patch);
    return patch;
  }
  const { diff } = await showPatch(command, wiki, patch.id);
  for (const line of diffLines(screen.paint, diff)) screen.say(line);
  const typed = await keyboard.line("  apply it? yes, no, or Enter to leave it › ");
  const word = typed?.trim().toLowerCase() ?? "";
  if (word !== "yes" && word !== "no") {
    sayPatch(command, patch);
    return patch;
  }
  return await decide(command, wiki, { id: patch.id, apply: word === "yes" });
}

/** At a terminal, asks about all patches at once or one by one; elsewhere they keep waiting. */
export async function decideMany(
  command: Command<Basic | "keyboard">,
  wiki: OpenWiki,
  patches: readonly PatchAnswer[],
): Promise<readonly PatchAnswer[]> {
  const { keyboard, screen } = command.powers;
  const each = async (
    decideOne: (patch: PatchAnswer) => Promise<PatchAnswer>,
  ): Promise<readonly PatchAnswer[]> => {
    const decided: PatchAnswer[] = [];
    for (const patch of patches) decided.push(await decideOne(patch));
    return decided;
  };
  if (patches.length <= MAX_ONE_BY_ONE) {
    return await each((patch) => decideNow(command, wiki, patch));
  }
  for (const { id, reason } of patches.slice(0, MAX_LISTED)) {
    screen.say(`  ${screen.paint.bold(id)}  ${displayText(reason, { max: 160 })}`);
  }
  if (patches.length > MAX_LISTED) screen.say(`  and ${patches.length - MAX_LISTED} more`);
  const typed = await keyboard?.line(
    `  apply all ${patches.length}? yes, no, one by one, or Enter to leave them › `,
  );
  const word = typed?.trim().toLowerCase() ?? "";
  if (word.startsWith("one")) return await each((patch) => decideNow(command, wiki, patch));
  if (word !== "yes" && word !== "no") {
    const all = commandText(command, "wiki review --all --apply");
    screen.say(`  they wait for your review: ${screen.paint.cyan(all)}`);
    return patches;
  }
  return await decideAll(command, wiki, patches, word === "yes");
}

/** Applies or rejects every patch; prints the conflicts and how many were decided. */
export async function decideAll(
  command: Command,
  wiki: OpenWiki,
  patches: readonly PatchAnswer[],
  apply: boolean,
): Promise<readonly PatchAnswer[]> {
  const { screen } = command.powers;
  const by = operatorName(command.powers);
  const decided: PatchAnswer[] = [];
  for (const { id } of patches) {
    screen.hint(`  ${decided.length}/${patches.length}`);
    const patch = readPatch(await wiki.ask("decide", { id, apply, by }));
    if (patch.state === "conflict") sayPatch(command, patch);
    decided.push(patch);
  }
  screen.hint("");
  const done = decided.filter(({ state }) => state === (apply ? "applied" : "rejected")).length;
  screen.say(
    `  ${counted(done, "patch", "patches")} of ${patches.length} ${apply ? "applied" : "rejected"}`,
  );
  return decided;
}

/** Applies or rejects a patch and prints the outcome. */
export async function decide(
  command: Command,
  wiki: OpenWiki,
  decision: { readonly id: PatchAnswer["id"]; readonly apply: boolean },
): Promise<PatchAnswer> {
  const by = operatorName(command.powers);
  const patch = readPatch(await wiki.ask("decide", { ...decision, by }));
  sayPatch(command, patch);
  return patch;
}

/** Exit code of a patch's state: 0 decided, 1 conflict, 75 waiting. */
export function exitOfPatch({ state }: PatchAnswer): ExitCode {
  switch (state) {
    case "applied":
    case "rejected":
      return EXIT.success;
    case "proposed":
      return EXIT.waiting;
    case "conflict":
      return EXIT.failure;
    default:
      return unreachable(state);
  }
}

/** Prints a patch's state; for a conflict, who changed what meanwhile. */
export function sayPatch(command: Command, patch: PatchAnswer): void {
  const { screen } = command.powers;
  const review = screen.paint.cyan(commandText(command, `wiki review ${patch.id}`));
  switch (patch.state) {
    case "applied":
      return screen.say(`  ${screen.paint.green("✓")} done (${patch.id})`);
    case "proposed":
      return screen.say(`  it waits for your review: ${review}`);
    case "rejected":
      return screen.say(`  ${patch.id} was rejected`);
    case "conflict":
      for (const { page, by, why } of patch.conflicts ?? []) {
        const whose = displayText(by, { max: 100 });
        const reason = why === "lease"
          ? `${whose} is at work on it`
          : why === "handEdit"
          ? "its file was changed by hand"
          : `${whose} changed it meanwhile`;
        screen.say(
          `  ${screen.paint.red("conflict")} ${displayText(page, { max: 120 })}: ${reason}`,
        );
      }
      return screen.say("  nothing was written");
  }
}
