/**
 * Colour (integrity), label (confidentiality) and effect class, with their orders.
 * @module
 */
import * as z from "zod";

/** Integrity, highest first. Falls with what a process reads. */
export const Colour = z.enum(["BLUE", "YELLOW", "RED"]);
export type Colour = z.infer<typeof Colour>;

/** Confidentiality, lowest first. Rises with what a process reads. Also a sink's clearance. */
export const Label = z.enum(["public", "internal", "secret"]);
export type Label = z.infer<typeof Label>;

/** What a call can bring about, lowest first. Computed from powers, never declared by a tool. */
export const EffectClass = z.enum([
  "read",
  "stage",
  "mutateLocal",
  "outboundRead",
  "outboundWrite",
  "destructive",
  "admin",
]);
export type EffectClass = z.infer<typeof EffectClass>;

const COLOURS = Colour.options;
const LABELS = Label.options;
const EFFECTS = EffectClass.options;

/** The less trusted of two colours: BLUE + RED is RED. */
export function mixColour(a: Colour, b: Colour): Colour {
  return COLOURS.indexOf(a) >= COLOURS.indexOf(b) ? a : b;
}

/** The more confidential of two labels. */
export function mixLabel(a: Label, b: Label): Label {
  return LABELS.indexOf(a) >= LABELS.indexOf(b) ? a : b;
}

/** The colour and label of a content. */
export type Taint = { readonly colour: Colour; readonly label: Label };

/** The lowest colour and the highest label of several contents; BLUE and public for none. */
export function mixTaints(...of: readonly Taint[]): Taint {
  return {
    colour: of.reduce<Colour>((all, { colour }) => mixColour(all, colour), "BLUE"),
    label: of.reduce<Label>((all, { label }) => mixLabel(all, label), "public"),
  };
}

/** The graver of two effects. */
export function graverEffect(a: EffectClass, b: EffectClass): EffectClass {
  return EFFECTS.indexOf(a) >= EFFECTS.indexOf(b) ? a : b;
}

/** Tells whether `have` is at least as trusted as `need`. */
export function colourSuffices(have: Colour, need: Colour): boolean {
  return COLOURS.indexOf(have) <= COLOURS.indexOf(need);
}

/** Tells whether something labelled `label` may flow to a sink of this clearance. */
export function cleared(label: Label, clearance: Label): boolean {
  return LABELS.indexOf(label) <= LABELS.indexOf(clearance);
}

/** The colour an effect needs before the policy's mode alone decides (docs/design.md). */
export const REQUIRED_COLOUR: Readonly<Record<EffectClass, Colour>> = {
  read: "RED",
  stage: "RED",
  mutateLocal: "BLUE",
  outboundRead: "YELLOW",
  outboundWrite: "BLUE",
  destructive: "BLUE",
  admin: "BLUE",
};
