/** What a host is told of a call under way: no more than of its result. @module */
import { cleared, Label } from "../../contracts/mod.ts";

/**
 * `text` where its label is known and cleared for, else `instead`.
 *
 * @param label as a kernel told it
 */
export function toldProgress(
  text: string,
  { label, clearance, instead }: {
    readonly label: unknown;
    readonly clearance: Label;
    readonly instead: string;
  },
): string {
  const { success, data } = Label.safeParse(label);
  return success && cleared(data, clearance) ? text : instead;
}
