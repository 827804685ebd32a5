/** Server-sent events: the data of each, in linear time however they come. WHATWG HTML, 9.2. @module */

/** Gives the data of each event; the last one also when its blank line is missing. */
export async function* eventsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let line = "";
  let data: string | undefined;
  /** Reads what `text` completes. A line's end may come as `\n` or `\r\n`. */
  function* read(text: string): Generator<string, void> {
    let from = 0;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", from)) {
      line += text.slice(from, at);
      from = at + 1;
      const whole = line.endsWith("\r") ? line.slice(0, -1) : line;
      line = "";
      if (whole === "") {
        if (data !== undefined) yield data;
        data = undefined;
      } else data = joined(data, whole);
    }
    line += text.slice(from);
  }
  for await (const bytes of body) yield* read(decoder.decode(bytes, { stream: true }));
  yield* read(`${decoder.decode()}\n\n`);
}

/** Only data counts: comments, names, ids and times of retrying mean nothing to a single request. */
function joined(before: string | undefined, line: string): string | undefined {
  if (!line.startsWith("data:")) return before;
  const value = line.slice(line.startsWith("data: ") ? 6 : 5);
  return before === undefined ? value : `${before}\n${value}`;
}
