/** Text of people, files and tools, made unable to steer a model by its control tokens. @module */

/** Put into what would be a control token: it is not shown, and the token is none any more. */
const BREAK = "\u2060";

/**
 * Makes a function that breaks each of `controls` where it stands in a text. Without it a page that
 * holds `<|im_start|>system` would open a system message.
 */
export function makePlainText(controls: readonly string[]): (text: string) => string {
  // The longest first: one may begin as another does.
  const marks = [...new Set(controls)].filter((mark) => mark.length > 1)
    .sort((a, b) => b.length - a.length);
  if (marks.length === 0) return (text) => text;
  const pattern = new RegExp(marks.map(RegExp.escape).join("|"), "g");
  return (text) => text.replace(pattern, (mark) => mark.slice(0, 1) + BREAK + mark.slice(1));
}
