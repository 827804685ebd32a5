/** The live view of a task at work: at most one line for each event. @module */
import { Colour, colourSuffices } from "../../contracts/authority/mod.ts";
import { displayText } from "../../text/mod.ts";
import { columnsOf, cutFront, cutTo, padTo, wordWrap } from "../terminal/columns.ts";
import { numberOf, type Seen, type SeenEvent, subjectOf, textOf } from "../audit/event_fields.ts";
import type { Screen } from "../powers.ts";
import { mcpHappening } from "../mcp/events.ts";
import { modelWords } from "../model/events.ts";
import { makeStreamedAnswer } from "./streamed_answer.ts";
import { touchedBy } from "../audit/touched.ts";

/** Shows a task's events as they happen. */
export interface LiveView {
  take(seen: Seen): void;
  /** Holds back signals while a prompt is on the screen (`on`), and shows them afterwards. */
  idle(on: boolean): void;
  /** The last answer, where it was shown while it was written; undefined where it was not. */
  shown(): string | undefined;
}

const MAX_SUBJECT = 300;
const REFUSALS = new Set(["refusedByPolicy", "deniedByUser", "stepUpFailed"]);

/** Text that a model wrote beside its calls; the final answer is shown elsewhere. */
function aside(event: SeenEvent): string {
  const message = event.private["message"];
  if (typeof message !== "object" || message === null) return "";
  const { content, toolCalls } = message as { content?: unknown; toolCalls?: unknown };
  const calls = Array.isArray(toolCalls) ? toolCalls.length : 0;
  return calls > 0 && typeof content === "string" ? content.trim() : "";
}

const CONTEXT_WORDS: Readonly<Record<string, string>> = {
  compact: "older turns summarized",
  evict: "older turns left out",
  checkpoint: "older turns put away",
  shorten: "long results cut",
};

function contextWords(method: string): string {
  return CONTEXT_WORDS[method] ?? "changed";
}

function whyChanged(event: SeenEvent): string {
  const why = textOf(event, "why");
  if (why === "label") return "the one before may not see this conversation";
  return why === "escalated" ? "by its rule" : "";
}

function tokensOf(event: SeenEvent): string {
  return `${numberOf(event, "before")} → ${numberOf(event, "after")} tokens`;
}

/** How far a local model has read its request. */
export function readingWords({ done, total }: Extract<Seen, { kind: "reading" }>): string {
  return `  … the model has read ${done} of ${total} tokens`;
}

/** How much a model thinks; never the content, which no log keeps. */
function thoughtWords(characters: number, verb: "thinks" | "thought"): string {
  return `  ✻ ${verb === "thinks" ? "the model thinks" : "thought"}, ${characters} characters`;
}

/** The risk in an intake, from a closed list: untrusted text is not shown. */
function riskOf(event: SeenEvent): string {
  return ["low", "medium", "high"].find((each) => each === textOf(event, "risk")) ?? "unknown";
}

/** The lists of an intake, where they have the expected shape. Untrusted. */
function intakeLists({ private: fields }: SeenEvent): readonly (readonly [string, string[]])[] {
  const list = (value: unknown): unknown[] => Array.isArray(value) ? value : [];
  const strings = (value: unknown): string[] =>
    list(value).filter((each) => typeof each === "string");
  const tools = list(fields["tools"]).map((each) => {
    const { tool, atMost } = Object(each) as { readonly tool?: unknown; readonly atMost?: unknown };
    return `${String(tool)} at most ${Number(atMost)}×`;
  });
  return [
    ["needs", strings(fields["capabilities"])],
    ["expects", tools.length === 0 ? [] : [tools.join(", ")]],
    ["unclear", strings(fields["unclear"])],
  ];
}

/** What a task keeps after its intake and what it gives up, as the kernel recorded it. */
function keptLines({ body }: SeenEvent): readonly string[] {
  const kept = Object(body["kept"]), givenUp = Object(body["givenUp"]);
  const names = (value: unknown): string[] => Array.isArray(value) ? value.map(String) : [];
  if (body["kept"] === undefined) return [];
  const gone = [`${Number(givenUp["tools"] ?? 0)} tools`, ...names(givenUp["mounts"])];
  return [
    `holds: ${[...names(kept["tools"]), ...names(kept["mounts"])].join(", ") || "nothing"}`,
    `gives up: ${gone.join(", ")}`,
  ];
}

/** Makes a live view on `given`. */
export function makeLiveView(
  given: Screen,
  parts: {
    readonly toolOf: (question: string) => string;
    /** Shows answers while they are written; the caller then prints no answer that {@link LiveView.shown} returns. */
    readonly answers?: boolean;
    /** Explanations of terms that appear for the first time in a line. */
    readonly explain?: (line: string) => readonly string[];
  },
): LiveView {
  const answer = makeStreamedAnswer(
    parts.answers === true ? given : { ...given, outWidth: undefined },
  );
  // A status line must not begin in the middle of an answer's line.
  const screen: Pick<Screen, "say" | "hint" | "paint"> = {
    say(line): void {
      answer.pause();
      given.say(line);
    },
    hint: (line) => answer.midway() ? undefined : given.hint(line),
    paint: given.paint,
  };
  const { paint, width } = given;
  let typed = 0;
  let thought = 0;
  const fold = (): void => {
    if (thought > 0) screen.say(paint.dim(thoughtWords(thought, "thought")));
    thought = 0;
  };
  /** Signals received while a prompt is on the screen, each once. */
  let signals: Set<string> | undefined;
  let colour: Colour = "BLUE";

  const safe = (text: string, max = MAX_SUBJECT): string => displayText(text, { max });
  const row = (mark: string, what: string, about: string, tail = ""): void => {
    const room = Math.max(20, width - 10 - Math.max(12, columnsOf(what)) - columnsOf(tail));
    const end = tail === "" ? "" : `  ${paint.dim(tail)}`;
    const shown = about.startsWith("/") ? cutFront(about, room) : cutTo(about, room);
    screen.say(`  ${mark} ${padTo(what, 12)}  ${shown}${end}`.trimEnd());
    // Only Remit's own words are explained, not a file's name that equals one.
    for (const line of parts.explain?.(tail) ?? []) {
      for (const piece of wordWrap(line, width - 6)) screen.say(`    ${paint.dim(piece)}`);
    }
  };
  const under = (text: string): void => {
    if (text !== "") screen.say(`    ${" ".repeat(12)}  ${paint.dim(cutTo(text, width - 20))}`);
  };
  /** The note on a fall of the task's colour, at the event that lowers it; else empty. */
  const fallTo = (now: string): string => {
    const parsed = Colour.safeParse(now);
    if (!parsed.success || colourSuffices(parsed.data, colour)) return "";
    colour = parsed.data;
    return `trust falls to ${colour}`;
  };

  const outcome = (event: SeenEvent): void => {
    const tool = safe(textOf(event, "tool"));
    const result = textOf(event, "outcome");
    const about = safe(subjectOf(event));
    if (result !== "ok") {
      const refused = REFUSALS.has(result);
      row(paint.red("✗"), tool, about, refused ? paint.red("refused") : safe(result));
      const rule = safe(textOf(event, "rule"));
      // The rule of a call that was let through is the one that allowed it; the fault says what failed.
      under(
        refused && rule !== "" && event.event === "refused"
          ? `by ${rule}`
          : safe(textOf(event, "why") || textOf(event, "error")),
      );
      return;
    }
    const { staged, applied } = touchedBy(event);
    const files = [...staged, ...applied].map((path) => safe(path)).join(", ");
    const fall = fallTo(textOf(event, "colour"));
    const did = staged.length > 0 ? "staged" : applied.length > 0 ? "applied" : "";
    row(paint.green("✓"), tool, files === "" ? about : files, did === "" ? fall : did);
    if (textOf(event, "decision") === "reused") under("an earlier answer of yours covers this");
  };

  const answered = (event: SeenEvent): void => {
    const decision = textOf(event, "decision");
    if (decision === "") return;
    const held = textOf(event, "for");
    const span = held === "" || held === "once" ? "" : `, for this ${safe(held)}`;
    const mark = decision === "allow" ? paint.green("●") : paint.red("●");
    const tool = safe(parts.toolOf(textOf(event, "question")));
    const words = `${decision === "allow" ? "allowed" : "denied"} by ${safe(textOf(event, "by"))}`;
    row(mark, tool, `${words}${span}`);
  };

  const hosts = new Set<string>();
  /** A line for the first request to a host; later requests are hints. */
  const asks = (event: SeenEvent): void => {
    const host = textOf(event, "host");
    const words = safe(modelWords(event) ?? "");
    if (hosts.has(host)) return screen.hint(`  … ${words}`);
    hosts.add(host);
    row(paint.yellow("→"), "model", words);
  };

  const oddities = new Set<string>();
  /** A line for what a server may not do; allowed actions are hints. */
  const serverDid = (event: SeenEvent): void => {
    const happened = mcpHappening(event);
    if (happened === undefined) return;
    const server = safe(textOf(event, "server"), 24);
    const { mark, path = "" } = happened;
    const words = safe(path === "" ? happened.words : `${happened.words} ${path}`);
    // A server that breaks the protocol does so constantly: shown once, recorded each time.
    const known = mark === "warning" && oddities.has(`${server} ${words}`);
    if (textOf(event, "what") === "odd") oddities.add(`${server} ${words}`);
    if (mark === "quiet" || known) return screen.hint(`  … ${server} ${words}`);
    const tail = mark === "refused" ? "refused" : "";
    const room = Math.max(20, width - 22 - tail.length - columnsOf(happened.words) - 1);
    row(
      mark === "refused" ? paint.red("✗") : paint.yellow("!"),
      server,
      path === "" ? words : `${safe(happened.words)} ${cutFront(safe(path), room)}`,
      tail,
    );
  };

  /** The model's own description of the task, which grants nothing. */
  const takenIn = (event: SeenEvent): void => {
    if (event.body["misfit"] === true) {
      row(paint.yellow("!"), "intake", `answer ${numberOf(event, "attempt")} does not fit`);
      return under(safe(textOf(event, "why")));
    }
    row(paint.green("✓"), "intake", safe(textOf(event, "objective"), 600), `risk ${riskOf(event)}`);
    for (const [name, values] of intakeLists(event)) {
      for (const value of values) under(`${name}: ${safe(value)}`);
    }
    for (const line of keptLines(event)) {
      // Rights are never cut: a hidden right would still be held.
      for (const piece of wordWrap(safe(line, 100_000), Math.max(20, width - 20))) under(piece);
    }
  };

  const take = (event: SeenEvent): void => {
    switch (event.event) {
      case "mcp":
        return serverDid(event);
      case "inbox": {
        if (textOf(event, "state") !== "delivered") return;
        const who = `${safe(textOf(event, "message"))} of ${safe(textOf(event, "sender"))}`;
        return row(paint.yellow("←"), "message", who, fallTo(textOf(event, "colour")));
      }
      case "intent":
        return screen.hint(`  … ${safe(textOf(event, "tool"))} ${safe(subjectOf(event))}`);
      case "outcome":
      case "refused":
        return outcome(event);
      case "inferred": {
        typed = 0;
        fold();
        screen.hint("");
        const seen = answer.end();
        if (event.body["broke"] === true) {
          return row(paint.yellow("!"), "model", "its answer broke off and is given up");
        }
        const words = aside(event);
        if (words !== "" && !seen) {
          screen.say(`  ${paint.dim(cutTo(`“${safe(words, 600)}”`, width - 3))}`);
        }
        return;
      }
      case "taskIntake":
        return takenIn(event);
      case "questionAsked":
        return row(
          paint.yellow("?"),
          safe(textOf(event, "tool")),
          `asks: ${safe(textOf(event, "rule"))}`,
        );
      case "questionAnswered":
        return answered(event);
      case "signalled":
        if (signals !== undefined) return void signals.add(textOf(event, "signal"));
        return row(paint.yellow("!"), "signal", safe(textOf(event, "signal")));
      case "modelAsked":
        return asks(event);
      case "modelQueued":
        return row(paint.yellow("…"), "model", safe(modelWords(event) ?? ""));
      case "modelFailed":
        row(paint.red("✗"), "model", safe(modelWords(event) ?? ""));
        return under(safe(textOf(event, "error")));
      case "modelChanged":
        return row(paint.yellow("!"), "model", safe(modelWords(event) ?? ""), whyChanged(event));
      case "contextCompacted":
        return row(
          paint.yellow("!"),
          "context",
          `${contextWords(textOf(event, "method"))}: ${tokensOf(event)}`,
          `ctx show ${safe(textOf(event, "number"))}`,
        );
      case "contextRestored":
        return row(paint.yellow("!"), "context", `put back: ${tokensOf(event)}`);
      case "budgetNear":
        return row(paint.yellow("!"), "budget", safe(textOf(event, "near")));
      case "leaseRevoked":
        return row(paint.yellow("!"), "revoked", `lease ${safe(textOf(event, "lease"))}`);
      case "recovered":
        return row(paint.yellow("!"), "recovered", "goes on after a crash of the kernel");
      default:
        return;
    }
  };

  return Object.freeze({
    take(seen: Seen): void {
      if (seen.kind === "event") return take(seen.event);
      if (seen.kind === "reading") return screen.hint(readingWords(seen));
      if (seen.kind === "thinking") {
        thought += seen.characters;
        return screen.hint(thoughtWords(thought, "thinks"));
      }
      if (seen.kind === "progress") return screen.hint(`  … ${safe(seen.text)}`);
      // The amount of thinking is shown once, before the answer that follows.
      if (seen.kind === "chunk") fold();
      typed += seen.text.length;
      if (!answer.push(seen.text)) screen.hint(`  … the model writes (${typed} characters)`);
    },
    shown: answer.shown,
    idle(on: boolean): void {
      const came = signals ?? [];
      signals = on ? new Set(came) : undefined;
      if (on) return;
      for (const signal of came) row(paint.yellow("!"), "signal", safe(signal));
    },
  });
}
