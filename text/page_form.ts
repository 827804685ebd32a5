/** Form fields as both browser engines show and fill them, and what submitting a form sends. @module */
import { Fault } from "../contracts/base/fault.ts";
import { quoted } from "./page_text.ts";

/** What a field takes. */
export type FieldKind = "text" | "textarea" | "checkbox" | "radio" | "select" | "password" | "file";

/** A choice of a `select`. */
export interface FieldOption {
  readonly value: string;
  readonly label: string;
  readonly chosen: boolean;
  readonly disabled: boolean;
}

/** A field and its state. */
export interface ShownField {
  readonly kind: FieldKind;
  readonly name: string;
  /** The current value; of a check box or radio button, the value that it sends when on. */
  readonly value: string;
  readonly on: boolean;
  readonly options: readonly FieldOption[];
  readonly multiple: boolean;
  readonly required: boolean;
  readonly readOnly: boolean;
  /** Most UTF-16 units of the field's text. */
  readonly most: number | undefined;
}

const MAX_OPTIONS = 50;
/** Most characters of a request that are shown. */
const MAX_SHOWN = 4_000;

/** The role that begins a field's line. */
export function roleOf(kind: string, multiple: boolean): string {
  if (kind === "text") return "textbox";
  return kind === "select" ? (multiple ? "listbox" : "combobox") : kind;
}

/** The rest of a field's line, after its role and label. */
export function stateOf(field: ShownField): string {
  const { kind, value } = field;
  if (kind === "password") return " (never typed by an agent: a person has to do this)";
  if (kind === "file") return " (uploads are not in this version)";
  const more: string[] = [];
  if (kind === "text" || kind === "textarea") more.push(`value ${quoted(value, 500)}`);
  if (kind === "checkbox" || kind === "radio") {
    more.push(field.on ? "on" : "off", `sends ${quoted(value)}`);
  }
  if (kind === "select") more.push(choices(field));
  if (field.required) more.push("required");
  if (field.readOnly) more.push("read-only");
  if (field.most !== undefined) more.push(`at most ${field.most} characters`);
  return ` name ${quoted(field.name, 80)}, ${more.join(", ")}`;
}

function choices({ options, multiple }: ShownField): string {
  const listed = options.slice(0, MAX_OPTIONS).map((option) =>
    quoted(option.value, 80) +
    (option.label === option.value ? "" : ` (${quoted(option.label, 80)})`) +
    (option.chosen ? "*" : "") + (option.disabled ? " disabled" : "")
  );
  const rest = options.length - listed.length;
  const more = rest > 0 ? ` and ${rest} more` : "";
  return `${multiple ? "any" : "one"} of ${listed.join(", ")}${more} (* is chosen)`;
}

/** Lines after a form: what each way to submit it sends, and how many hidden values go along. */
export function sendingWays(
  ways: readonly (readonly [ref: string, said: string])[],
  hidden: number,
): readonly string[] {
  return [
    ...Array.from(
      Map.groupBy(ways, ([, said]) => said),
      ([said, refs]) => `sending ${refs.map(([ref]) => ref).join(" or ")}: ${said}`,
    ),
    ...(hidden === 0
      ? []
      : [`(with ${hidden} hidden ${hidden === 1 ? "value" : "values"} of the page's own)`]),
  ];
}

/** The call that sends a form by GET, or by POST where there is a body. */
export function sendingCall(url: string, body: string | undefined): string {
  if (body === undefined) return `browser_submit, url ${url}`;
  const shown = body.length > MAX_SHOWN
    ? `${JSON.stringify(body.slice(0, MAX_SHOWN))}… (${body.length} characters)`
    : JSON.stringify(body);
  return `browser_post, url ${url}, body ${shown}`;
}

/** The refusal to fill a field. */
export function cannotFill(ref: string, why: string): Fault {
  return new Fault("invalidArguments", `Cannot fill ${JSON.stringify(ref.slice(0, 32))}: ${why}`);
}

/**
 * Checks a value against its field; does not look at the options of a `select`.
 *
 * @throws {Fault} `refused` for secrets and files, `invalidArguments` with what the field takes
 */
export function mustFit(
  ref: string,
  { kind, readOnly, most }: Pick<ShownField, "kind" | "readOnly" | "most">,
  filling: unknown,
): void {
  switch (kind) {
    case "password":
      throw new Fault(
        "refused",
        `Cannot fill ${ref}: it asks for a password or another secret, which no agent types; ask the person to do this step`,
      );
    case "file":
      throw new Fault(
        "refused",
        `Cannot fill ${ref}: this version does not upload files; ask the person to do this step`,
      );
    case "checkbox":
      if (typeof filling === "boolean") return;
      throw cannotFill(ref, "a check box takes true or false");
    case "radio":
      if (filling === true) return;
      throw cannotFill(
        ref,
        "a radio button takes true; to choose another one, name that one instead",
      );
    case "select":
      if (typeof filling === "string") return;
      if (Array.isArray(filling) && filling.every((each) => typeof each === "string")) return;
      throw cannotFill(ref, "it takes the value of one of its options");
    case "text":
    case "textarea":
      if (typeof filling !== "string") throw cannotFill(ref, "it takes a text");
      if (readOnly) throw cannotFill(ref, "it is read-only");
      if (kind === "text" && /[\r\n]/.test(filling)) throw cannotFill(ref, "it takes one line");
      if (most !== undefined && filling.length > most) {
        throw cannotFill(ref, `it takes at most ${most} characters`);
      }
  }
}
