/**
 * bob's scripts go on working: what each command's `--help` says, and the shape of what it prints with `--json`, are
 * those of the recordings in _fixture/. After a change that users are told of, `REMIT_RECORD=1` writes them anew.
 */
import assert from "node:assert/strict";
import { COMMANDS } from "../../cli/arguments/command_table.ts";
import { everythingText, helpText } from "../../cli/arguments/help.ts";
import { needs } from "../needs.ts";
import { type Machine, onMachine } from "../fake/remit.ts";

/** Compares with the recording `name`, or writes it where the environment asks for that. */
async function assertRecorded(name: string, text: string): Promise<void> {
  const file = new URL(`_fixture/${name}`, import.meta.url);
  if (Deno.env.get("REMIT_RECORD") === "1" && Deno.env.get("CI") === undefined) {
    await Deno.writeTextFile(file, text);
  }
  assert.deepEqual(text.split("\n"), (await Deno.readTextFile(file)).split("\n"));
}

/** Names that stand for themselves, not for a field: ids, paths, addresses, names of tools. */
const IS_ID = /^[a-z][0-9a-z]{12}$|[/.:@]|^[0-9a-f]{16,}$|^(?:\w+_)+\w+$/;

/** The shape of a JSON value: kinds in place of values; the items of a list and the values by id merged. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf).reduce<unknown[]>(merged, []);
  if (value === null || typeof value !== "object") return value === null ? "null" : typeof value;
  const byName = Object.entries(value).map(([key, each]) =>
    [IS_ID.test(key) ? "*" : key, shapeOf(each)] as const
  );
  return Object.fromEntries(byName.toSorted(([a], [b]) => a < b ? -1 : a > b ? 1 : 0));
}

/** A list's shapes, each once, in an order that does not hang on the values. */
function merged(shapes: unknown[], shape: unknown): unknown[] {
  const texts = new Set([...shapes, shape].map((each) => JSON.stringify(each)));
  return [...texts].toSorted().map((text) => JSON.parse(text));
}

/** A task that read, staged a change and was refused; a wiki; a plugin's tools. */
async function prepare(
  machine: Machine,
): Promise<{ readonly task: string; readonly wiki: string }> {
  await machine.write("desk/a.md", "the tide turns at six\n");
  const play = await machine.write(
    "play.yaml",
    `scenario: recorded
turns:
  - calls: [{ tool: file_read, args: { path: desk/a.md } }]
  - calls: [{ tool: file_write, args: { path: desk/b.md, content: "b" } }]
  - calls: [{ tool: http_fetch, args: { url: "https://example.org/" } }]
  - say: done
`,
  );
  await machine.write("notes/tide.md", "# Tide\n\nThe tide is the rise and fall of the sea.\n");
  const ran = await machine.remit([
    ...["run", "-p", "Read it.", "--mount", `desk=${machine.dir}/desk`],
    ...["--on-question", "deny", "--model", `scripted:${play}`],
  ]);
  assert.equal(ran.code, 0, ran.stderr);
  const wiki = `${machine.dir}/wiki`;
  for (
    const words of [
      ["wiki", "init", wiki],
      ["wiki", "ingest", `${machine.dir}/notes`, "--wiki", wiki],
      ["conversation", "name", "last", "tides"],
    ]
  ) {
    const made = await machine.remit(words);
    assert.equal(made.code, 0, `${words.join(" ")}: ${made.stderr}`);
  }
  const [{ id }] = await machine.json(["tasks"]) as [{ id: string }];
  return { task: id, wiki };
}

/** What only reads, and can be asked of any machine; `TASK` and `WIKI` are put in. */
const ASKED = `
--version
audit query
audit verify
a2a list
can reader file_read {"path":"desk/a.md"}
conversation list
conversation show tides
ctx list TASK
diff TASK
doctor
grants TASK
inbox list
lease list TASK
log TASK
mail list
mcp list
model list
outbox list TASK
proposals list
ps
questions
receipt show TASK
schedule list
secret list
task list
task show TASK
tool inspect file_read
tool list
webhook list
wiki history WIKI
wiki lint WIKI
wiki list WIKI
wiki log WIKI
wiki query tide WIKI
wiki status WIKI
task show nobody
wiki query nothing --wiki NOWHERE
`.trim().split("\n");

Deno.test("each command's help is the one on record", async () => {
  await assertRecorded(
    "help.txt",
    [everythingText(), ...COMMANDS.map(helpText)].join(`${"-".repeat(80)}\n`)
      .replaceAll(/^remit \d+\.\d+\.\d+\S*:/gm, "remit VERSION:"),
  );
});

Deno.test("what each command prints with --json has the shape on record", async () => {
  if (!needs("bwrap")) return;
  await onMachine(async (machine) => {
    const { task, wiki } = await prepare(machine);
    const shapes: Record<string, unknown> = {};
    for (const line of ASKED) {
      const words = line.split(" ").flatMap((word) =>
        word === "TASK" ? [task] : word === "WIKI" ? ["--wiki", wiki] : [word]
      );
      const { code, stdout } = await machine.remit([...words, "--json"]);
      const texts = stdout.trim() === "" ? [] : lines(stdout);
      shapes[line] = {
        code,
        shape: texts.map((each) => shapeOf(each)).reduce<unknown[]>(merged, []),
      };
    }
    await assertRecorded("json_shapes.json", `${JSON.stringify(shapes, null, 2)}\n`);
    // Its kernel stays between two commands, however slow the machine is.
  }, { env: { REMIT_IDLE_SECONDS: "300" } });
});

/** One document, or JSON lines. */
function lines(text: string): readonly unknown[] {
  try {
    return [JSON.parse(text)];
  } catch {
    return text.trim().split("\n").map((line) => JSON.parse(line) as unknown);
  }
}
