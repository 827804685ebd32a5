/** `adopt`: something that a message carries gets a name; a capability is derived, never more than was offered. @module */
import { Fault, type Reference } from "../../contracts/mod.ts";
import type { MailTool } from "./descriptors.ts";
import { answering, FROM, type Letter, type Letters } from "./letters.ts";
import { whyNotHeld, wordsOf } from "./name_tools.ts";
import { type MailAct, type MailParts, offerOf, type Said, textOf } from "./tool.ts";
import { parsePath, withNamed } from "./names.ts";

/** Makes the tool. */
export function adoptTools(
  parts: MailParts,
  letters: Letters,
): Readonly<Partial<Record<MailTool, MailAct>>> {
  const { names, leases, offers } = parts;

  const carried = (letter: Letter, edge: string): Reference => {
    const { entry, mail } = letter;
    if (edge === FROM) return { kind: "agent", box: answering(entry) };
    const edges = mail?.type === "package" || mail?.type === "resolution" ? mail.edges : [];
    const found = edges.find(({ name }) => name === edge);
    if (found !== undefined) return found.reference;
    throw new Fault(
      "notFound",
      `Cannot adopt "${edge}" of message ${entry.n}: it carries ${
        edges.map(({ name }) => `"${name}"`).join(", ") || "nothing"
      }`,
    );
  };

  return {
    adopt: {
      effect: "stage",
      resolve(args) {
        const letter = letters.numbered(args["messageNumber"]);
        const reference = carried(letter, textOf(args, "edgeName"));
        const { colour, label } = letter.entry;
        const from = letter.entry.message.sender;
        return {
          // Authority changes hands: a person is asked, whatever it permits.
          effect: reference.kind === "lease" ? "mutateLocal" : "stage",
          ...{ colour, label },
          summary: `adopt ${wordsOf(reference)}, from ${from}`.slice(0, 1_000),
        };
      },
      async run(call): Promise<Said> {
        const { args, process, resolved: { colour = "RED", label = "internal" } } = call;
        const letter = letters.numbered(args["messageNumber"]);
        const edge = textOf(args, "edgeName"), path = parsePath(args["petName"]);
        const reference = carried(letter, edge);
        if (reference.kind === "tool") {
          const why = whyNotHeld(parts, reference, process);
          if (why !== undefined) throw new Fault("refused", `Cannot adopt "${edge}": ${why}`);
        }
        if (reference.kind === "lease") {
          const parent = offers.get(offerOf(letter.entry.id, edge));
          const held = parent === undefined ? undefined : leases.get(parent);
          if (
            held === undefined || !leases.alive(held.id) ||
            !parts.covers(held.scope, reference.scope)
          ) {
            throw new Fault(
              "refused",
              `Cannot adopt "${edge}": its sender does not hold ${
                wordsOf(reference)
              } now; ask for it anew`,
            );
          }
          const { scope } = reference, { expiresAt } = held;
          const reason = `adopted from ${letter.entry.message.sender}`;
          await leases.derive(held.id, { pid: process.pid, scope, expiresAt, reason });
        }
        await names.change({ colour, label }, (now) => withNamed(now, path, reference));
        return { content: `"${path.join("/")}" is now ${wordsOf(reference)}` };
      },
    },
  };
}
