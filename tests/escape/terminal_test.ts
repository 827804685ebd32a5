import assert from "node:assert/strict";
import { onMachine } from "../fake/remit.ts";

/** Clears the screen, sets the title, colours, rings, goes back a line, turns text about, hides text. */
const EVIL =
  "\u001b[2J\u001b]0;owned\u0007\u009b31m\r\u0008\u202egnp\u2066\u200b\u00ad\u2028\u0085\u{e0041}";
const YAML = JSON.stringify(EVIL).slice(1, -1);
/** Whatever moves a terminal or cannot be seen; line ends and tabs apart. */
const RAW = new RegExp(
  String
    .raw`[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202e\u2060-\u2069\u{e0000}-\u{e007f}]`,
  "u",
);

const SCENARIO = `scenario: mallory's words
model: { displayName: "model ${YAML}" }
turns:
  - say: "I say ${YAML} so."
    rationale: "I think ${YAML} so."
    calls:
      - { tool: file_list, args: { path: desk, depth: 4 } }
      - { tool: file_read, args: { path: desk/mail.eml } }
      - { tool: file_read, args: { path: "desk/no ${YAML}" } }
      - { tool: "tool ${YAML}", args: { x: "${YAML}" } }
      - { tool: file_stat, raw: '{"path": "${YAML.replaceAll("'", "''")}"' }
      - { tool: file_search, args: { query: "${YAML}", path: desk } }
      - { tool: http_fetch, args: { url: "http://x/${YAML}" } }
      - { tool: scratch_write, args: { path: scratch/a, content: "${YAML}" } }
      - { tool: outbox_publish, args: { path: scratch/a, name: "for you.md" } }
      - { tool: file_write, args: { path: "desk/new.md", content: "first\\n${YAML}\\nlast" } }
      - { tool: file_edit, args: { path: desk/mail.eml, old: hello, new: "hello ${YAML}" } }
      - { tool: patch_apply }
  - when: { step: 2 }
    error: { code: upstream, message: "it broke ${YAML}" }
`;

Deno.test("mallory's escape sequences would have written on carol's terminal, by any name or text", async () => {
  await onMachine(async (machine) => {
    const scenario = await machine.write("evil.yaml", SCENARIO);
    const name = EVIL.replaceAll("/", "");
    await machine.write("desk/mail.eml", `hello ${EVIL}\n`);
    await machine.write(`desk/${name}.md`, EVIL);
    await machine.write(`desk/folder ${name}/x.md`, EVIL);
    const clean = (command: string, text: string): void => {
      const found = RAW.exec(text);
      const environment = text.slice(
        Math.max(0, (found?.index ?? 0) - 60),
        (found?.index ?? 0) + 20,
      );
      assert.equal(found, null, `${command}: ${JSON.stringify(environment)}`);
    };
    let seen = "";
    const see = async (...args: readonly string[]): Promise<string> => {
      const done = await machine.remit(args);
      clean(args.join(" "), done.stdout);
      clean(args.join(" "), done.stderr);
      seen += done.stdout + done.stderr;
      return done.stdout;
    };
    const mount = `--mount=desk=${machine.dir}/desk`;
    await see("run", "-p", `do ${EVIL}`, mount, `--model=scripted:${scenario}`, "--trace", "trace");
    const [task] = await machine.json(["task", "show"]) as { id: string }[];
    const id = String(task?.id);
    const [question] = await machine.json(["questions"]) as { id: string }[];
    assert.notEqual(question, undefined);
    for (const extra of [[], ["--json"]]) {
      for (
        const command of [
          ["questions"],
          ["diff", id],
          ["ps"],
          ["task", "show"],
          ["task", "show", id],
          ["log", id],
          ["audit", "query"],
          ["receipt", "show", id],
          ["outbox", "list"],
          ["lease", "list"],
          ["grants"],
          ["can", "agent", `tool ${EVIL}`, "{}"],
          [
            "can",
            "agent",
            "file_read",
            `{"path":"desk/${JSON.stringify(EVIL).slice(1, -1)}"}`,
            mount,
          ],
          ["task", "show", `t${EVIL}`],
          ["kill", EVIL],
          [`command ${EVIL}`],
          ["run", mount, `--model=${EVIL}`, "-p", "x"],
          ["run", `--mount=desk=/no/${EVIL}`, "-p", "x"],
        ]
      ) await see(...command, ...extra);
    }
    await see("answer", String(question?.id), "deny", "--say", `no ${EVIL}`);
    await see("log", id);
    clean("--trace", await machine.read("trace"));
    // It was all there to be seen, only not as it was.
    assert.match(seen, /\\u\{1b\}\[2J/);
    assert.match(seen, /\\u\{202e\}gnp/);
    assert.match(seen, /it broke/);
  });
});
