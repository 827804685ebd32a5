/** Where a model's words come from. @module */
import type { ChatMessage, Provenance } from "../contracts/chat.ts";
import { mixColour, mixLabel } from "../contracts/colour.ts";

/** A model's words are as trusted and as confidential as what it read. */
export function readProvenance(messages: readonly ChatMessage[], source: string): Provenance {
  let colour: Provenance["colour"] = "BLUE";
  let label: Provenance["label"] = "public";
  for (const { provenance } of messages) {
    colour = mixColour(colour, provenance.colour);
    label = mixLabel(label, provenance.label);
  }
  return { origin: "model", source: source.slice(0, 512), colour, label };
}
