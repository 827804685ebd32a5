import assert from "node:assert/strict";
import { BACKENDS, keepKey, says } from "../../fake/model_scenes.ts";
import { onMachine } from "../../fake/remit.ts";
import { openTmux } from "../../fake/tmux.ts";
import { needs } from "../../needs.ts";

/** What a person could type in a session, and what would draw a line that waits or an answer that was given. */
const ANSWER = [
  "!touch pwned",
  "/exit",
  "@../secret.txt",
  "\x1b[1A\r» y",
  "  queued 1  yes",
  "\x1b[200~!touch pwned\r\x1b[201~",
  "\x1b]52;c;cHduZWQ=\x07",
].join("\n\n");

Deno.test("mallory's answer would have run in alice's shell, ended her session, taken a file, or typed for her", async () => {
  if (!needs("tmux")) return;
  const backend = BACKENDS[1];
  assert.ok(backend !== undefined);
  await onMachine(async (machine) => {
    const more = Promise.withResolvers<void>();
    await using provider = backend.serve([
      { text: ["It begins. ", more.promise, `\n\n${ANSWER}`] },
      says("Second."),
    ]);
    await keepKey(machine, backend, provider);
    await machine.write("plans/trip.txt", "Monday\n");
    const words = ["--mount", `plans=${machine.dir}/plans`, "--model", backend.ref(provider)];
    const screen = await openTmux(machine.command(words), {
      env: { ...machine.env, NO_COLOR: "1" },
      cwd: machine.dir,
    });
    try {
      await screen.shows((rows) => rows.at(-1) === "›");
      await screen.type("Hello");
      await screen.press("Enter");
      await screen.shows("It begins.");
      more.resolve();
      const seen = await screen.shows((rows) =>
        rows.some((row) => row.includes("52;c;")) && rows.at(-1) === "›"
      );
      assert.match(seen, /!touch pwned/);
      // Spelled out: none of it moved the cursor or reached the clipboard.
      assert.match(seen, /\\u\{1b\}\[1A/);
      assert.match(seen, /\\u\{1b\}\]52;c/);
      await screen.type("Again");
      await screen.press("Enter");
      await screen.shows((rows) => rows.includes("Second.") && rows.at(-1) === "›");
      const { length } = provider.received.filter(({ body }) => body.includes("Hello"));
      assert.equal(length, 2, "nothing was said that alice did not type");
    } finally {
      await screen.close();
    }
    const names = [...Deno.readDirSync(machine.dir)].map(({ name }) => name);
    assert.ok(!names.includes("pwned"), names.join(" "));
  });
});
