// The kit: reads a call, answers it, and asks the host. The tool's `run` looks like this:
//
//   export function run(): i32 {
//     const call = readCall();
//     if (call.op == "greet") answer(new Writer().text("hello"));
//     return finish();
//   }

import { errorSet, fromHost, hostCallRaw, outputSet, readInput, toHost } from "./env";
import { Json, Kind, parseJson } from "./json";
import { Writer } from "./writer";

/** A call: the tool's name and its arguments, an object that fits the tool's schema. */
export class Call {
  constructor(public op: string, public args: Json) {}
}

/** An expected refusal; the codes are those of contracts/base/fault.ts. */
export class Fault {
  constructor(public code: string, public message: string) {}
}

/** A host function's answer: a value, or a fault. */
export class Answer {
  constructor(public value: Json | null, public fault: Fault | null) {}
}

/** Pages of 64 KiB below which garbage collection is not worthwhile. */
const QUIET_PAGES: i32 = 64;
let fault: Fault | null = null;
let answered: Writer | null = null;

/** Parses this call's input and clears the last call's state. Fails for anything but a call. */
export function readCall(): Call {
  fault = null;
  answered = null;
  // The last call's leftovers would count against this call's maximum.
  if (memory.size() > QUIET_PAGES) __collect();
  const input = parseJson(readInput());
  const args = member(input, "args");
  const op = member(input, "op");
  if (args == null || args.kind != Kind.Object || op == null) {
    fail("badFrame", "Cannot read the call: it is not {v, op, args}");
    return new Call("", new Json(Kind.Object, new Uint8Array(0), 0, 0));
  }
  return new Call(op.text, args);
}

/** Refuses this call. Only the first refusal counts; `finish` reports it. */
export function fail(code: string, message: string): void {
  if (fault == null) fault = new Fault(code, message);
}

/** Whether this call was refused already. */
export function failed(): bool {
  return fault != null;
}

/** Sets the value of this call: one whole JSON value. */
export function answer(value: Writer): void {
  answered = value;
}

/** Sends this call's fault or value to the host. Returns the result of `run`. */
export function finish(): i32 {
  const value = answered;
  const refused = fault;
  if (refused != null) tell(refused);
  else if (value == null) {
    tell(new Fault("unknownTool", "Cannot call the tool: this plugin does not have it"));
  } else {
    const prefix = String.UTF8.encode('{"ok":true,"value":');
    const whole = new Uint8Array(prefix.byteLength + value.bytes + 1);
    memory.copy(whole.dataStart, changetype<usize>(prefix), prefix.byteLength);
    memory.copy(whole.dataStart + prefix.byteLength, value.base, value.bytes);
    whole[whole.length - 1] = 0x7d;
    outputSet(toHost(whole.dataStart, whole.length), whole.length);
  }
  answered = null;
  return 0;
}

/** Asks the host for `fn` with `args`, one JSON object. */
export function hostCall(fn: string, args: Writer): Answer {
  const name = String.UTF8.encode('{"fn":"' + fn + '","args":');
  const whole = new Uint8Array(name.byteLength + args.bytes + 1);
  memory.copy(whole.dataStart, changetype<usize>(name), name.byteLength);
  memory.copy(whole.dataStart + name.byteLength, args.base, args.bytes);
  whole[whole.length - 1] = 0x7d;
  const reply = parseJson(fromHost(hostCallRaw(toHost(whole.dataStart, whole.length))));
  const ok = member(reply, "ok");
  if (reply == null || ok == null) {
    return new Answer(
      null,
      new Fault("badFrame", "Cannot read the host's answer: it is no envelope"),
    );
  }
  if (ok.isTrue) return new Answer(reply.get("value"), null);
  const error = reply.get("error");
  const code = member(error, "code");
  const message = member(error, "message");
  return new Answer(
    null,
    new Fault(code == null ? "upstream" : code.text, message == null ? "" : message.text),
  );
}

/** Called by the runtime for a bug, such as a failed assertion. The instance is not used again. */
export function abortPlugin(
  message: string | null,
  file: string | null,
  line: u32,
  column: u32,
): void {
  const where = (file == null ? "?" : file) + ":" + line.toString() + ":" + column.toString();
  const text = "Cannot go on: " + (message == null ? "abort" : message) + " at " + where;
  tell(new Fault("upstream", text));
  const utf8 = String.UTF8.encode(text);
  errorSet(toHost(changetype<usize>(utf8), utf8.byteLength));
  unreachable();
}

function member(value: Json | null, name: string): Json | null {
  if (value == null) return null;
  return value.get(name);
}

function tell(refused: Fault): void {
  const out = new Writer().open("{").key("ok").bool(false).key("error").open("{")
    .key("code").text(refused.code).key("message").text(refused.message).close("}").close("}");
  outputSet(toHost(out.base, out.bytes), out.bytes);
}
