/** What sending a form would send, as Chromium reports it, and the lines that show it. @module */
import type { Canvas } from "./canvas.ts";
import { sendingCall, sendingWays } from "../text/page_form.ts";
import { readPlace } from "./address.ts";
import type { Element } from "./dom.ts";
import { kindOf } from "./fields.ts";

/** A way of sending a form. */
export interface Sending {
  readonly method: "GET" | "POST" | "DIALOG";
  readonly encoding: string;
  /** The address without the form's values. */
  readonly action: string;
  /** The address with the form's values, for GET. */
  readonly url: string;
  /** For POST. */
  readonly body: string;
}

/** By the form's number for its Enter key, and by the number of each of its buttons. */
export type Sendings = ReadonlyMap<number, Sending>;

const URLENCODED = "application/x-www-form-urlencoded";

/** The lines after a form: exactly what each way of sending it sends, with its current values. */
export function sendingLines(
  sendings: Sendings,
  targets: Canvas["targets"],
  { form, ref }: { readonly form: Element; readonly ref: string | undefined },
): readonly string[] {
  const ways: (readonly [ref: string, request: string])[] = [];
  const own = sendings.get(form.id);
  if (ref !== undefined && own !== undefined) ways.push([ref, saidOf(own)]);
  for (const [each, target] of targets) {
    if (target.kind !== "submit" || target.form !== form.id) continue;
    const sending = sendings.get(target.id);
    if (sending !== undefined) ways.push([each, saidOf(sending)]);
  }
  return sendingWays(ways, hiddenIn(form));
}

function saidOf({ method, encoding, url, body }: Sending): string {
  if (method === "DIALOG") return "Cannot send the form: it only closes a dialog, by a script";
  const place = readPlace(url, url);
  if (place.kind === "other") {
    return `Cannot send the form: it leads to ${place.what}, and only http and https are followed`;
  }
  if (method === "GET") return sendingCall(place.url, undefined);
  if (encoding !== URLENCODED) {
    return `Cannot send the form: it wants ${encoding}, which this version does not send`;
  }
  return sendingCall(place.url, body);
}

function hiddenIn(form: Element): number {
  let count = 0;
  const look = (of: Element): void => {
    for (const node of of.children) {
      if (node.kind === "text") continue;
      if (node.name === "input" && kindOf(node) === "hidden" && !node.attributes.has("disabled")) {
        count += 1;
      }
      look(node);
    }
  };
  look(form);
  return count;
}
