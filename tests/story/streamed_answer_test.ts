/** alice reads an answer while it is written: at her terminal word by word, in a pipe as one text. */
import assert from "node:assert/strict";
import { BACKENDS, keepKey, planned, READS, says } from "../fake/model_scenes.ts";
import { onMachine } from "../fake/remit.ts";
import { openTerminal } from "../fake/terminal.ts";
import { needs } from "../needs.ts";

const ANSWER =
  "You leave on **Monday**.\n\n- pack `socks`\n\n```ts\nconst day = 1;\n```\nThat is all.";

Deno.test("alice sees the first words while the model still writes, once, with its marks as styles; a pipe gets the text as it is", async () => {
  if (!needs("script")) return;
  const backend = BACKENDS[1];
  assert.ok(backend !== undefined);
  await onMachine(async (machine) => {
    await using provider = backend.serve();
    await keepKey(machine, backend, provider);
    const words = [...await planned(machine), "--model", backend.ref(provider)];
    const more = Promise.withResolvers<void>();
    provider.next(READS, { text: [ANSWER.slice(0, 30), more.promise, ANSWER.slice(30)] });
    const terminal = openTerminal(machine.command(["run", "-p", "When?", ...words]), {
      env: { ...machine.env, NO_COLOR: "" },
      cwd: machine.dir,
    });
    try {
      // Held back by the server: what is seen now came before the answer's end.
      const early = await terminal.shows("You leave on");
      assert.doesNotMatch(early, /That is all/);
      more.resolve();
      await terminal.shows("That is all.");
      assert.equal(await terminal.ended(), 0);
      const screen = terminal.screen();
      assert.equal(screen.split("You leave on").length, 2, "the answer stands there once");
      assert.match(screen, /\x1b\[1mMonday\.?\x1b\[22m|\x1b\[1mMonday\x1b\[22m\./);
      assert.match(screen, /• pack \x1b\[36msocks/);
      assert.doesNotMatch(screen, /```|\*\*/);
    } finally {
      await terminal.close();
    }
    provider.next(says(ANSWER));
    const piped = await machine.remit(["run", "-p", "When?", ...words]);
    assert.equal(piped.stdout, `${ANSWER}\n`);
  });
});
