// The tools of the plugin sample, by their names in tool.yaml. AssemblyScript is TypeScript's
// syntax with the types of WebAssembly; the kit is "remit/…".

import { answer, fail, finish, hostCall, readCall } from "remit/plugin";
import { Json } from "remit/json";
import { Writer } from "remit/writer";

/** Runs once for each call of a tool. */
export function run(): i32 {
  const call = readCall();
  if (call.op == "sample_lines") lines(call.args);
  return finish();
}

function lines(args: Json): void {
  const path = args.get("path");
  if (path == null) return fail("invalidArguments", "Cannot count lines: there is no path");
  let count: i64 = 0;
  let from: f64 = 0;
  let last: i32 = 0x0a;
  while (true) {
    const read = hostCall(
      "fs.read",
      new Writer().open("{").key("path").text(path.text).key("from").number(from).close("}"),
    );
    const refused = read.fault;
    if (refused != null) return fail(refused.code, refused.message);
    const part = read.value;
    if (part == null) return fail("upstream", "Cannot read the file");
    const text = part.get("text");
    const next = part.get("next");
    const end = part.get("end");
    if (text == null || next == null || end == null) return fail("upstream", "Cannot read the file");
    const bytes = text.utf8();
    for (let at = 0; at < bytes.length; at++) {
      last = bytes[at];
      if (last == 0x0a) count++;
    }
    if (end.isTrue) break;
    from = next.number;
  }
  if (last != 0x0a) count++;
  answer(new Writer().open("{").key("lines").integer(count).close("}"));
}
