/** Values for the fields of a form, as a caller names them: by ref. @module */
import type { Control } from "./control.ts";
import type { Form } from "./form.ts";
import type { Filling } from "./form_request.ts";
import type { Target } from "./page.ts";
import { Refusal } from "./refusal.ts";

/**
 * What each control of `form` is filled with.
 *
 * @throws Refusal that names the field and says what it takes
 */
export function filledBy(
  fields: Readonly<Record<string, Filling>>,
  form: Form,
  targets: ReadonlyMap<string, Target>,
): ReadonlyMap<Control, Filling> {
  const filled = new Map<Control, Filling>();
  for (const [ref, filling] of Object.entries(fields)) {
    const target = targets.get(ref);
    if (target?.kind !== "field" || target.form !== form) {
      throw bad(
        ref,
        "it is no field of this form; use the refs that the newest snapshot lists beneath the form",
      );
    }
    filled.set(target.control, fitting(ref, target.control, filling));
  }
  return filled;
}

function fitting(ref: string, control: Control, filling: Filling): Filling {
  const { kind, most } = control;
  if (control.disabled) throw bad(ref, "it is disabled");
  if (control.readOnly && (kind === "text" || kind === "textarea")) {
    throw bad(ref, "it is read-only");
  }
  switch (kind) {
    case "password":
      throw new Refusal(
        "refused",
        `Cannot fill ${ref}: it asks for a password or another secret, which no agent types; ask the person to do this step`,
      );
    case "file":
      throw new Refusal(
        "refused",
        `Cannot fill ${ref}: this version does not upload files; ask the person to do this step`,
      );
    case "checkbox":
      if (typeof filling === "boolean") return filling;
      throw bad(ref, "a check box takes true or false");
    case "radio":
      if (filling === true) return true;
      throw bad(ref, "a radio button takes true; to choose another one, name that one instead");
    case "select":
      return choice(ref, control, filling);
    case "text":
    case "textarea":
      if (typeof filling !== "string") throw bad(ref, "it takes a text");
      if (kind === "text" && /[\r\n]/.test(filling)) throw bad(ref, "it takes one line");
      if (most !== undefined && filling.length > most) {
        throw bad(ref, `it takes at most ${most} characters`);
      }
      return filling;
    default:
      throw bad(ref, "it is not a field that is filled");
  }
}

function choice(ref: string, { options, multiple }: Control, filling: Filling): readonly string[] {
  if (typeof filling === "boolean") throw bad(ref, "it takes the value of one of its options");
  const wanted = typeof filling === "string" ? [filling] : filling;
  if (!multiple && wanted.length !== 1) throw bad(ref, "it takes exactly one of its options");
  return wanted.map((text) => {
    const found = options.find(({ value }) => value === text) ??
      options.find(({ label }) => label === text);
    if (found !== undefined && !found.disabled) return found.value;
    const known = options.filter(({ disabled }) => !disabled).slice(0, 30).map(({ value }) =>
      JSON.stringify(value.slice(0, 60))
    );
    throw bad(
      ref,
      `it has no option ${JSON.stringify(text.slice(0, 60))}; its options are ${known.join(", ")}`,
    );
  });
}

function bad(ref: string, why: string): Refusal {
  return new Refusal("invalidArguments", `Cannot fill ${JSON.stringify(ref.slice(0, 32))}: ${why}`);
}
