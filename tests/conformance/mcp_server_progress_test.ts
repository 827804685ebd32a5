/** What a host is told while a call is under way, with the gateway's real process. */
import assert from "node:assert/strict";
import { onMachine } from "../fake/remit.ts";
import { configure } from "../fake/service.ts";
import { overPipe, textOf } from "./_served.ts";

Deno.test("a secret would have reached a host as the progress of a call whose result is withheld", async () => {
  await onMachine(async (machine) => {
    await machine.write("notes/open.md", "call the supplier\n");
    await machine.write("notes/secret.md", "plum-orchard-7731\n");
    await configure(machine, "marks: [{ path: secret.md, label: secret }]\n");
    const client = await overPipe(machine, ["--mount", `notes=${machine.dir}/notes:ro`]);
    const heard: string[] = [];
    const ask = async (file: string): Promise<string> => {
      // The SDK's client drops progress that it reads in one piece with the answer: the program goes on for a while.
      const code = `const text = await remit.tool("file_read", { path: "notes/${file}" });
        await remit.progress("it says " + text);
        for (let i = 0; i < 40; i++) await remit.tool("file_stat", { path: "notes/${file}" });
        text`;
      return textOf(
        await client.callTool({ name: "exec", arguments: { code } }, {
          onprogress: ({ message = "" }) => heard.push(message),
        }),
      );
    };
    assert.match(await ask("open.md"), /call the supplier/);
    assert.match(heard.join("\n"), /it says call the supplier/);
    const withheld = await ask("secret.md");
    await client.close();
    assert.doesNotMatch(`${withheld}\n${heard.join("\n")}`, /plum-orchard/);
    assert.match(withheld, /secret/);
    assert.equal(heard.at(-1), "works (withheld)");
  });
});
