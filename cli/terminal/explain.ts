/** Explains Remit's terms, one line each: for `remit explain WORD`, and when a term first appears. @module */
import { join } from "node:path";
import * as z from "zod";
import type { Command } from "../command.ts";

/** The terms with their explanations. docs/glossary.md says more. */
export const WORDS: Readonly<Record<string, string>> = {
  BLUE: "colour BLUE: only you and Remit wrote what the agent has read; it may do what you may",
  YELLOW:
    "colour YELLOW: it has read files or output that nobody vouched for; changes are asked about",
  RED:
    "colour RED: it has read what strangers wrote; what it does next may be their wish, so more is asked or refused",
  public: "label public: anybody may see it",
  internal: "label internal: it stays with you and the services that you named",
  secret: "label secret: it leaves for nobody, unless a rule of yours clears them",
  colour:
    "colour: how far a text may be believed: BLUE, YELLOW, RED; it falls with what an agent reads",
  label: "label: who may see a text: public, internal, secret; it rises with what an agent reads",
  needsApproval:
    'needsApproval: the task waits for a person\'s answer; "remit questions" shows what it asks',
  staged: "staged: the change is kept beside your folder; the folder has it only after a yes",
  applied: 'applied: your folder has the change now; "remit undo" takes it back',
  consent: "consent: a yes with the key that Remit keeps for you",
  stepUp: "stepUp: a yes with your passphrase, for what cannot be taken back",
  forbidden: "forbidden: no answer allows it; only a rule in remit.yaml could",
  auto: "auto: it runs without a question; the log has it",
  intake:
    "intake: what the model says a task is before it may call anything (--intake); what it does not name is given up, and it grants nothing",
  template:
    'template: a typed answer that a model fills in at a fixed step; "remit templates list" has them',
  lease: 'lease: what an agent holds, for how long; "remit lease revoke" ends it at once',
  mount: "mount: a folder under a name that agents use: ro, stage or rw",
  grant: "grant: a right that you gave",
  kernel: "kernel: the one process that holds rights; agents have none and ask it",
  receipt: "receipt: a signed record of one call, which anybody can check",
  head: "head: the last hash of the log; kept elsewhere, it shows that an end was cut off",
  wiki: "wiki: what Remit remembers, as pages with sources",
  outbox: "outbox: what an agent made for you; you release it",
  quarantined: "quarantined: kept apart until a person releases it",
  brake: "brake: a process that spends too fast stands still until you say yes",
};

/** Terms that are explained when they first appear. */
const FIRST: readonly string[] = [
  ...["YELLOW", "RED", "secret", "needsApproval", "staged", "stepUp", "forbidden", "quarantined"],
];

const Seen = z.array(z.string().max(64)).max(256);

/** Explains terms at their first appearance. */
export interface FirstWords {
  /** Explanations of the terms in `text` that appear for the first time in this state. */
  of(text: string): readonly string[];
}

/** Opens the state's record of explained terms. */
export function openFirstWords({ powers, places }: Pick<Command, "powers" | "places">): FirstWords {
  const path = join(places.person, "explained.json");
  let seen: Set<string> | undefined;
  const read = (): Set<string> => {
    const bytes = powers.disk.read(path, { most: 65_536 });
    try {
      const text = bytes === undefined ? "[]" : new TextDecoder().decode(bytes);
      return new Set(Seen.safeParse(JSON.parse(text)).data ?? []);
    } catch (error) {
      // An unreadable record only repeats an explanation.
      if (error instanceof SyntaxError) return new Set();
      throw error;
    }
  };
  return Object.freeze<FirstWords>({
    of(text): readonly string[] {
      seen ??= read();
      const known = seen;
      const fresh = FIRST.filter((word) =>
        !known.has(word) && new RegExp(`(?<![\\w-])${word}(?![\\w-])`).test(text)
      );
      if (fresh.length === 0) return [];
      for (const word of fresh) known.add(word);
      powers.disk.makeFolder(places.person);
      powers.disk.write(path, `${JSON.stringify([...known])}\n`);
      return fresh.map((word) => WORDS[word] ?? "");
    },
  });
}
