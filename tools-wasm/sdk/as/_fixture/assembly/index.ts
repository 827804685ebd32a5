// Echoes its input, and makes the host calls that it is told to: for tests of the kit.

import { Json, Kind } from "remit/json";
import { answer, fail, finish, hostCall, readCall } from "remit/plugin";
import { Writer } from "remit/writer";

function write(out: Writer, value: Json): void {
  if (value.kind == Kind.Object) {
    out.open("{");
    for (let i = 0; i < value.keys.length; i++) write(out.key(value.keys[i]), value.items[i]);
    out.close("}");
  } else if (value.kind == Kind.List) {
    out.open("[");
    for (let i = 0; i < value.items.length; i++) write(out, value.items[i]);
    out.close("]");
  } else if (value.kind == Kind.Text) out.text(value.text);
  else if (value.kind == Kind.Number) out.number(value.number);
  else if (value.kind == Kind.Bool) out.bool(value.isTrue);
  else out.null();
}

export function run(): i32 {
  const call = readCall();
  const value = call.args.get("value");
  if (call.op == "echo") {
    const out = new Writer();
    if (value == null) out.null();
    else write(out, value);
    answer(out);
  } else if (call.op == "bytes" && value != null) {
    const utf8 = value.utf8();
    answer(new Writer().integer(utf8.length));
  } else if (call.op == "ask") {
    const said = hostCall("fs.read", new Writer().open("{").key("path").text("desk/é").close("}"));
    const refused = said.fault;
    const given = said.value;
    if (refused != null) fail(refused.code, "host said: " + refused.message);
    else {
      const out = new Writer();
      if (given == null) out.null();
      else write(out, given);
      answer(out);
    }
  } else if (call.op == "abort") {
    const none = new Array<i32>(0);
    answer(new Writer().integer(none[call.args.keys.length + 7]));
  }
  return finish();
}
