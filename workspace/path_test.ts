import { deepEqual, equal, throws } from "node:assert/strict";
import fc from "fast-check";
import { Fault } from "../contracts/base/fault.ts";
import { checkNewName, parsePath } from "./path.ts";

const refused = (e: unknown): boolean => e instanceof Fault && e.code === "invalidArguments";

const TRICKS: Readonly<Record<string, string>> = {
  "nothing": "",
  "an absolute path": "/etc/passwd",
  "an absolute path after a mount's name": "//etc/passwd",
  "a parent": "desk/../keys",
  "a parent at the end": "desk/notes/..",
  "a parent alone": "..",
  "a dot part": "desk/./a",
  "an empty part": "desk//a",
  "a trailing separator": "desk/",
  "a NUL": "desk/a\0.md",
  "a newline": "desk/a\nb",
  "an escape": "desk/\u001b[2J",
  "a C1 control": "desk/\u009b2J",
  "a line separator": "desk/a\u2028b",
  "a backslash": "desk\\a",
  "a backslash parent": "desk/..\\..\\a",
  "an encoded separator": "desk/..%2fkeys",
  "an encoded separator in capitals": "desk/a%2Fb",
  "an encoded backslash": "desk/a%5cb",
  "an encoded parent": "desk/%2e%2e/keys",
  "an encoded NUL": "desk/a%00",
  "an overlong separator": "desk/..%c0%af..",
  "an overlong dot": "desk/%c0%ae%c0%ae/x",
  "an overlong separator of three bytes": "desk/%e0%80%af",
  "an overlong separator of four bytes": "desk/%f0%80%80%af",
  "overlong UTF-8 as it was decoded": "desk/\ufffd\ufffdkeys",
  "a lone surrogate": "desk/\ud800",
  "a home folder": "~/keys",
  "a drive": "C:/keys",
  "an address": "file:///etc/passwd",
  "a mount in capitals": "Desk/a",
  "a mount in look-alike letters": "d\u0435sk/a",
  "a part that is too long": `desk/${"a".repeat(256)}`,
  "a part that is too long in bytes": `desk/${"\u00e9".repeat(128)}`,
  "a path that is too long": `desk/${"a/".repeat(600)}a`,
  "a path that is too deep": `desk/${Array(64).fill("a").join("/")}`,
};
for (const [what, path] of Object.entries(TRICKS)) {
  Deno.test(`mallory names ${what}: it is no path`, () => {
    throws(() => parsePath(path), refused);
  });
}

Deno.test("alice's plain paths parse to mount and parts", () => {
  const path = parsePath("my-desk_2/notes/a b.md");
  equal(path.mount, "my-desk_2");
  equal(path.rel, "notes/a b.md");
  deepEqual(path.parts, ["notes", "a b.md"]);
  equal(parsePath("desk").rel, "");
  equal(parsePath("desk/...").rel, "...");
  equal(parsePath("desk/100%.md").rel, "100%.md");
});

Deno.test("old names are taken as given; new ones must not look like others", () => {
  for (
    const path of ["desk/e\u0301.md", "desk/a\u200bb", "desk/\u202etxt.exe", "desk/ a", "desk/a "]
  ) {
    const parsed = parsePath(path);
    equal(parsed.text, path);
    throws(() => checkNewName(parsed), refused);
  }
  throws(() => checkNewName(parsePath("desk")), refused);
  throws(() => checkNewName(parsePath("desk/.remit-1-0.new")), refused);
  checkNewName(parsePath("desk/\u00e9.md"));
});

Deno.test("whatever parses stays beneath its mount, for every text", () => {
  const piece = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("..", ".", "/", "\\", "%2f"),
  );
  fc.assert(fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
    let parsed;
    try {
      parsed = parsePath(`desk/${pieces.join("/")}`);
    } catch (error) {
      return refused(error);
    }
    const url = new URL(`x:///root/${parsed.parts.map(encodeURIComponent).join("/")}`);
    return url.pathname.startsWith("/root/") && !parsed.parts.includes("..");
  }));
});
