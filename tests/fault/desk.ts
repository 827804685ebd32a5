/** A folder to work on, and a scenario that changes it. */
import assert from "node:assert/strict";

/** Calls before the apply. */
export const edits = 3;

/** Changes one file, makes one, deletes one, and applies all three as one patch. */
export const EDITS = `
scenario: edits
turns:
  - calls:
      - { tool: file_edit, args: { path: desk/a.md, old: one, new: two } }
      - { tool: file_write, args: { path: desk/b.md, content: "fresh\\n" } }
      - { tool: file_delete, args: { path: desk/c.md } }
  - calls: [{ tool: patch_apply }]
  - say: It is done.
`;

const BEFORE = { "a.md": "one\n", "c.md": "old\n" };
const AFTER = { "a.md": "two\n", "b.md": "fresh\n" };

/** Makes the folder as it is before. */
export async function makeDesk(folder: string): Promise<void> {
  for (const [name, text] of Object.entries(BEFORE)) {
    await Deno.writeTextFile(`${folder}/${name}`, text);
  }
}

/** Every file of a folder, by name, also the hidden ones. */
export async function filesOf(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const { name } of Deno.readDir(folder)) {
    found[name] = await Deno.readTextFile(`${folder}/${name}`);
  }
  return found;
}

/** The whole patch is in the folder, and nothing else is: no leftover of an apply that was cut off. */
export async function isAfter(folder: string): Promise<void> {
  assert.deepEqual(await filesOf(folder), AFTER);
}

/** The folder is untouched. */
export async function isBefore(folder: string): Promise<void> {
  assert.deepEqual(await filesOf(folder), BEFORE);
}
