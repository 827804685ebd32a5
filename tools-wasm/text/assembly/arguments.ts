// Checks arguments again, so that a host's mistake leads to a refusal and not to a crash.

import { Json, Kind } from "remit/json";
import { fail } from "remit/plugin";
import { Source } from "./source";

/** The text or file that `args` names; fails the call unless exactly one is given. */
export function sourceOf(args: Json, pathName: string = "path", textName: string = "text"): Source {
  const path = args.get(pathName);
  const text = args.get(textName);
  if ((path == null) == (text == null)) {
    fail(
      "invalidArguments",
      "Cannot read a text: give either '" + pathName + "' or '" + textName + "'",
    );
  } else if (path != null && path.kind == Kind.Text) return new Source(path.text, null);
  else if (text != null && text.kind == Kind.Text) return new Source("", text.utf8());
  else {fail(
      "invalidArguments",
      "Cannot read a text: '" + pathName + "' and '" + textName + "' are strings",
    );}
  return new Source("", new Uint8Array(0));
}

/** The whole number `name` within bounds; `fallback` if absent. */
export function integerOf(args: Json, name: string, fallback: i32, lowest: i32, highest: i32): i32 {
  const given = args.get(name);
  if (given == null) return fallback;
  const value = given.number;
  if (value >= lowest && value <= highest && Math.floor(value) == value) return <i32> value;
  fail(
    "invalidArguments",
    "Cannot use '" + name + "': it must be a whole number from " + lowest.toString() + " to " +
      highest.toString(),
  );
  return fallback;
}

/** Whether `name` is given and true. */
export function flagOf(args: Json, name: string): bool {
  const given = args.get(name);
  if (given == null) return false;
  if (given.kind != Kind.Bool) {
    fail("invalidArguments", "Cannot use '" + name + "': it must be true or false");
  }
  return given.isTrue;
}

/** The string `name` in UTF-8; null if absent. */
export function textOf(args: Json, name: string): Uint8Array | null {
  const given = args.get(name);
  if (given == null) return null;
  if (given.kind != Kind.Text) {
    fail("invalidArguments", "Cannot use '" + name + "': it must be a string");
  }
  return given.utf8();
}
