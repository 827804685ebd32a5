/**
 * The program `lal`: tool calls alone, names, mail and proposals. It says what became of a proposal before the model
 * thinks on, and waits for the person when the model has nothing more to do.
 * @module
 */
import type { ChatMessage } from "../contracts/chat.ts";
import { Fault } from "../contracts/fault.ts";
import type { Settlement } from "../contracts/mail.ts";
import type { ToolResult } from "../contracts/tool.ts";
import type { CallBy, Habits } from "./habits.ts";
import { LAL_PROMPT } from "./lal_prompt.ts";
import { readEmbedded } from "./lal_text.ts";

/** Where settlements come from, in a message's provenance. */
const SOURCE = "settlements";
const HEAD = /^\[Remit: settlement (\d+)\]/;

/** Makes Lal's habits, over the conversation as it is when the worker starts. */
export function makeLal(initial: readonly ChatMessage[]): Habits {
  const fresh = initial.every(({ role }) => role === "system");
  /** Something may be pending: a proposal was made, or an earlier worker made one. */
  let pending = !fresh;
  let asked = 0;

  const settled = async (
    said: readonly ChatMessage[],
    call: CallBy,
    wait: boolean,
  ): Promise<readonly ChatMessage[]> => {
    const found: ChatMessage[] = [];
    while (pending) {
      const after = seenIn([...said, ...found]);
      const id = `settlements-${after}-${said.length}-${wait ? "wait-" : ""}${asked++}`;
      const result = await call(id, "settlements", { after, wait: wait && found.length === 0 });
      const answer = answerOf(result);
      pending = answer.pending > 0;
      if (answer.settlements.length === 0) break;
      // More may have been settled since: each is told, in its order.
      pending = true;
      found.push(...answer.settlements.map((each) => messageOf(each, result)));
    }
    return found;
  };

  return Object.freeze<Habits>({
    begin(from) {
      const [system, ...rest] = from;
      if (!fresh || system === undefined) return [from, from.length];
      return [[{ ...system, content: `${system.content}\n\n${LAL_PROMPT}` }, ...rest], 0];
    },
    before: (said, call) => settled(said, call, false),
    heard: readEmbedded,
    called({ name }, { outcome }): void {
      if (name === "evaluate" && outcome === "ok") pending = true;
    },
    rests: (said, call) => settled(said, call, true),
    async broke(why, call): Promise<void> {
      const strings = [`I could not go on: ${why}`.slice(0, 2_000)];
      try {
        await call(`broke-${asked++}`, "send", { recipient: "HOST", strings });
      } catch (error) {
        // What ended the turn is told by the turn's own end as well.
        if (!(error instanceof Fault)) throw error;
      }
    },
  });
}

/** The last settlement that a conversation was told. */
function seenIn(said: readonly ChatMessage[]): number {
  let seen = 0;
  for (const { role, content, provenance: { origin, source } } of said) {
    if (role !== "user" || origin !== "tool" || source !== SOURCE) continue;
    seen = Math.max(seen, Number(HEAD.exec(content)?.[1] ?? 0));
  }
  return seen;
}

function answerOf({ outcome, content }: ToolResult): {
  readonly pending: number;
  readonly settlements: readonly Settlement[];
} {
  // Refused, or interrupted: there is nothing to wait for.
  if (outcome !== "ok") return { pending: 0, settlements: [] };
  // TRUST: the kernel's own answer.
  return JSON.parse(content) as ReturnType<typeof answerOf>;
}

const quoted = (text: string): string => text.split("\n").map((line) => `| ${line}`).join("\n");

function messageOf(settlement: Settlement, { colour, label }: ToolResult): ChatMessage {
  return {
    role: "user",
    content: [`[Remit: settlement ${settlement.seq}]`, ...linesOf(settlement)].join("\n"),
    provenance: { origin: "tool", source: SOURCE, colour, label },
  };
}

/** A settlement as the lines that its agent is shown. */
function linesOf(settlement: Settlement): readonly string[] {
  const { proposal, source, result = "", resultName, why = "", offer } = settlement;
  const was = (word: string): string => `Your eval-proposal #${proposal} was ${word} by the HOST.`;
  const shown = ["Source:", quoted(source)];
  switch (settlement.status) {
    case "granted":
      return [
        ...[was("GRANTED"), ...shown, "Result:", quoted(result)],
        "The program ran." +
        (resultName === undefined ? "" : ` Its result has your petname ${resultName}.`) +
        " Tell whoever asked, with send.",
      ];
    case "failed":
      return [
        ...[was("GRANTED"), ...shown, "It ran and FAILED:", quoted(why)],
        "Propose another program, or tell whoever asked.",
      ];
    case "rejected":
      return [
        ...[was("REJECTED"), ...shown, "Reason:", quoted(why)],
        "It did not run. Tell whoever asked, with send, and ask what they want instead.",
      ];
    case "countered":
      return [
        was("answered with a COUNTER-PROPOSAL"),
        ...[...shown, "Reason:", quoted(why), "HOST's program:", quoted(offer?.source ?? "")],
        `Its code names: ${JSON.stringify(offer?.codeNames ?? [])}, edge names: ` +
        `${JSON.stringify(offer?.edgeNames ?? [])}, result name: ${offer?.resultName ?? "none"}.`,
        "Nothing ran. Look at it; if you agree, propose exactly it with evaluate, else explain with send.",
      ];
  }
}
