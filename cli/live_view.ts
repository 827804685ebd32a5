/** The calm view of a task at work: one line for what happened, never more. @module */
import { displayText } from "../text/mod.ts";
import { cutTo, padTo } from "./columns.ts";
import { numberOf, type Seen, type SeenEvent, subjectOf, textOf } from "./event_fields.ts";
import type { Screen } from "./hands.ts";
import { stagedPaths } from "./tally.ts";

/** Shows what a task does. */
export interface LiveView {
  take(seen: Seen): void;
}

const SUBJECT = 300;

/** Makes the view. */
export function makeLiveView(screen: Screen): LiveView {
  const { paint, width } = screen;
  let typed = 0;

  const row = (mark: string, what: string, about: string, tail = ""): void => {
    const left = padTo(what, 14);
    const room = Math.max(20, width - 20 - tail.length);
    const end = tail === "" ? "" : `  ${paint.dim(tail)}`;
    screen.say(`  ${mark} ${left} ${cutTo(about, room)}${end}`.trimEnd());
  };
  const under = (text: string): void => {
    if (text !== "") screen.say(`      ${paint.dim(cutTo(text, Math.max(20, width - 8)))}`);
  };
  const safe = (text: string): string => displayText(text, { max: SUBJECT });

  const outcome = (event: SeenEvent): void => {
    const tool = safe(textOf(event, "tool"));
    const about = safe(subjectOf(event));
    const result = textOf(event, "outcome");
    const rule = safe(textOf(event, "rule"));
    const colour = textOf(event, "colour");
    const tail = colour === "" || colour === "BLUE" ? "" : safe(colour);
    if (result === "ok") {
      const staged = stagedPaths(event);
      row(paint.green("✓"), tool, about, staged.length > 0 ? "staged" : tail);
      if (textOf(event, "decision") === "reused") under("an earlier answer of yours covers this");
      return;
    }
    const refused = result === "refusedByPolicy" || result === "deniedByUser" ||
      result === "stepUpFailed";
    row(paint.red("✗"), tool, about, refused ? "refused" : safe(result));
    const why = safe(textOf(event, "why") || textOf(event, "error"));
    under(refused && rule !== "" ? `by ${rule}` : why);
  };

  const event = (seen: SeenEvent): void => {
    switch (seen.event) {
      case "intent":
        return screen.hint(`  … ${safe(textOf(seen, "tool"))} ${safe(subjectOf(seen))}`);
      case "outcome":
      case "refused":
        return outcome(seen);
      case "inferred":
        typed = 0;
        return screen.hint("");
      case "questionAnswered": {
        const decision = textOf(seen, "decision");
        const by = textOf(seen, "by");
        if (decision === "") return;
        const mark = decision === "allow" ? paint.green("●") : paint.red("●");
        const forever = textOf(seen, "for");
        const held = forever === "" || forever === "once" ? "" : `for this ${safe(forever)}`;
        return row(mark, decision === "allow" ? "allowed" : "denied", `by ${safe(by)} ${held}`);
      }
      case "signalled":
        return row(paint.yellow("!"), "signal", safe(textOf(seen, "signal")));
      case "leaseRevoked":
        return row(paint.yellow("!"), "lease revoked", safe(textOf(seen, "lease")));
      case "recovered":
        return row(paint.yellow("↺"), "recovered", "goes on after a crash of the kernel");
      case "undone":
        return row(paint.yellow("↶"), "undone", `${numberOf(seen, "files") || ""}`);
      case "artifact":
        return row(paint.green("✓"), "outbox", safe(textOf(seen, "name")), "quarantined");
      default:
        return;
    }
  };

  return Object.freeze({
    take(seen: Seen): void {
      if (seen.kind === "event") return event(seen.event);
      if (seen.kind === "progress") return screen.hint(`  … ${safe(seen.text)}`);
      typed += seen.text.length;
      screen.hint(`  … the model writes (${typed} characters)`);
    },
  });
}
