/** alice answers from a script, with no terminal, what a run with prepared answers left open. */
import { equal, match } from "node:assert/strict";
import { EXIT } from "../../contracts/base/mod.ts";
import { onMachine } from "../fake/remit.ts";
import { needs } from "../needs.ts";

const STUB = new URL("../../redteam/stub_server.mjs", import.meta.url);

Deno.test("an answer without a terminal ends at the next question of a run that had prepared answers", async () => {
  if (!needs("node")) return;
  await onMachine(async (machine) => {
    const schema = { type: "object", properties: { to: { type: "string" } } };
    const tools = [{ name: "send", description: "Sends.", reads: false, gives: "done", schema }];
    await machine.write("srv/environment.json", JSON.stringify({ tools }));
    await machine.write("srv/server.mjs", await Deno.readTextFile(STUB));
    await machine.write("did/journal.jsonl", "");
    const added = await machine.remit([
      ...["mcp", "add", "mail", "--direct", `${machine.dir}/did`, "--yes", "--", "node"],
      ...[`${machine.dir}/srv/server.mjs`, `${machine.dir}/did/journal.jsonl`],
    ]);
    equal(added.code, 0, added.stderr);
    const calls = ["bob", "carol"].map((to) =>
      `  - calls: [{ tool: mcp_mail_send, args: { to: ${to} } }]`
    );
    const play = await machine.write(
      "play.yaml",
      `scenario: mails\nturns:\n${calls.join("\n")}\n  - { say: Done., loop: true }\n`,
    );
    const answers = await machine.write("answers.json", JSON.stringify({ answers: [] }));
    const run = ["run", "-p", "Write to whom you like", "--model", `scripted:${play}`];
    const left = await machine.remit([...run, "--tools", "all", "--answers", answers, "--json"]);
    equal(left.code, EXIT.waiting, left.stderr);
    const open = async (): Promise<string> =>
      (await machine.json(["questions"]) as { id: string }[])[0]?.id ?? "";
    const next = await machine.remit(["answer", await open(), "allow"]);
    equal(next.code, EXIT.waiting, next.stderr);
    match(await machine.read("did/journal.jsonl"), /bob/);
    const last = await machine.remit(["answer", await open(), "allow"]);
    equal(last.code, 0, last.stderr);
    match(await machine.read("did/journal.jsonl"), /carol/);
  });
});
