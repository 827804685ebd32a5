// The steps of an expression: for tests of time that grows only linearly with the text.

import { answer, finish, readCall } from "remit/plugin";
import { Writer } from "remit/writer";
import { parseRegex } from "../../assembly/regex";
import { Threads } from "../../assembly/regex_threads";

export function run(): i32 {
  const call = readCall();
  const query = call.args.get("query");
  const text = call.args.get("text");
  if (query == null || text == null) return finish();
  const regex = parseRegex(query.utf8(), false);
  if (regex == null) return finish();
  const bytes = text.utf8();
  Threads.steps = 0;
  const matches = regex.matches(bytes.dataStart, bytes.length);
  const begins = regex.begins(bytes.dataStart, bytes.length);
  const out = new Writer().open("{").key("matches").bool(matches).key("begins").integer(begins);
  out.key("instructions").integer(regex.instructions);
  answer(out.key("steps").integer(Threads.steps).close("}"));
  return finish();
}
