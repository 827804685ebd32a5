/** Renders an inbox message for a person. Everything that the sender wrote is made safe. @module */
import type { InboxEntry } from "../../contracts/exchange/mod.ts";
import { displayBlock, displayText } from "../../text/mod.ts";

const MAX_FIELD = 200;
const MAX_LINES = 2_000;

const safe = (text: string, max = MAX_FIELD): string => displayText(text, { max });

/** The beginning of a message, in one line. */
export function gistOf({ message, why }: InboxEntry): string {
  const line = message.body.split("\n").find((each) => each.trim() !== "") ?? "";
  return why === undefined ? safe(line.trim()) : `${safe(line.trim(), 60)}  (${safe(why)})`;
}

/** The whole message: its sender and state, its text, and its requests. */
export function entryLines(entry: InboxEntry, now: number): readonly string[] {
  const { message } = entry;
  const rows: readonly (readonly [string, string | undefined])[] = [
    ["message", `${entry.id}  ${entry.state}`],
    ["why", entry.why],
    ["from", message.sender],
    ["to", entry.box],
    ["kind", message.kind],
    ["trust", `${entry.colour}, ${entry.label}`],
    ["came", new Date(entry.receivedAt).toISOString()],
    ["task", entry.task],
    ["call", entry.call],
    ["exchange", entry.exchange],
    ["its id", message.id],
    ["its task", message.senderTask],
    ["follows", message.causalParent],
    ["schema", message.schema],
    ["expires", expiryOf(message.expiresAt, now)],
    ["artifacts", message.artifactRefs.length === 0 ? undefined : message.artifactRefs.join("  ")],
  ];
  return [
    ...rows.flatMap(([name, value]) =>
      value === undefined ? [] : [`${name.padEnd(10)} ${safe(value)}`]
    ),
    "",
    ...(message.body === ""
      ? ["it has no text"]
      : displayBlock(message.body, { maxLines: MAX_LINES })),
    ...message.requestedActions.flatMap((action) => [
      "",
      `it proposes to call ${safe(action.tool)}: nothing was done`,
      ...displayBlock(action.arguments),
      ...(action.why === "" ? [] : displayBlock(action.why)),
    ]),
    ...message.requestedAuthority.flatMap(({ resource, right, path, why }) => [
      "",
      `it asks for ${safe(right)} of ${safe(resource)} at ${
        safe(path)
      }: releasing it grants nothing`,
      ...(why === "" ? [] : displayBlock(why)),
    ]),
  ];
}

function expiryOf(at: number | undefined, now: number): string | undefined {
  if (at === undefined) return undefined;
  return `${new Date(at).toISOString()}${at <= now ? ", over" : ""}`;
}
