/** What a page's front matter says of its colour and label. It is never believed, except to make it worse. @module */
import { Colour, Label } from "../../contracts/mod.ts";
import type { ReadPage } from "../markdown/page_text.ts";
import type { Trust } from "./trust_rules.ts";

/** The shown colour and label, where they are ones. */
export function shownTrust({ front }: ReadPage): Partial<Trust> {
  const colour = Colour.safeParse(front.colour);
  const label = Label.safeParse(front.label);
  return {
    ...(colour.success ? { colour: colour.data } : {}),
    ...(label.success ? { label: label.data } : {}),
  };
}
