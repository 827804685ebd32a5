import assert from "node:assert/strict";
import { placeConfig } from "./place.ts";
import { parseConfigText } from "./text.ts";

const place = (yaml: string, folder: string): ReturnType<typeof placeConfig> =>
  placeConfig(parseConfigText("f.yaml", `version: 1\n${yaml}`), folder, [
    { name: "desk", dir: "/home/alice/desk" },
    { name: "notes", dir: "/home/alice/desk/notes" },
  ]);

Deno.test("a path beneath the folder becomes a path of its mount, in each that shows it", () => {
  const placed = place(
    "rules:\n  - path: notes/diary.md\n    mode: forbidden\n",
    "/home/alice/desk",
  );
  assert.deepEqual(placed.rules[0]?.path, ["notes/diary.md", "desk/notes/diary.md"]);
});

Deno.test("a file deep in a mount speaks of what lies beneath it", () => {
  const placed = place("never:\n  - a/b\n", "/home/alice/desk/mail");
  assert.deepEqual(placed.config.never, ["desk/mail/a/b"]);
  const lifted = place("never: ['!.env.example', '!a/.env.sample']\n", "/home/alice/desk/mail");
  assert.deepEqual(lifted.config.never, ["!.env.example", "!desk/mail/a/.env.sample"]);
});

Deno.test("a mount path is kept beside its other reading; bare names and double stars hold as they are", () => {
  const placed = place("never: [desk/x, '*.pem', '**/secret/**']\n", "/home/alice/desk");
  assert.deepEqual(placed.config.never, ["desk/x", "desk/desk/x", "*.pem", "**/secret/**"]);
});

Deno.test("each placed glob keeps the line that it was written on", () => {
  const placed = place("never:\n  - notes/a\n  - '*.pem'\n", "/home/alice/desk");
  assert.deepEqual(placed.config.never, ["notes/a", "desk/notes/a", "*.pem"]);
  assert.equal(placed.at(["never", 1]), "f.yaml:3");
  assert.equal(placed.at(["never", 2]), "f.yaml:4");
});
