/** alice works for a while in one session at 80×24, with a model that writes slowly: no line is lost, no word broken. */
import assert from "node:assert/strict";
import { BACKENDS, keepKey, READS, says } from "../fake/model_scenes.ts";
import { onMachine } from "../fake/remit.ts";
import { openTmux } from "../fake/tmux.ts";
import { needs } from "../needs.ts";

/** Words that the screen must not break, long enough to meet its edge often. */
const WORDS = Array.from({ length: 160 }, (_, n) => `${"unbroken".slice(0, 3 + n % 6)}-${n}`);

Deno.test("alice types ahead of a slow answer, changes what waits, answers a question that came in between, and comes back the next day", async () => {
  if (!needs("tmux") || !needs("script")) return;
  const backend = BACKENDS[1];
  assert.ok(backend !== undefined);
  await onMachine(async (machine) => {
    await using provider = backend.serve();
    await keepKey(machine, backend, provider);
    await machine.write("plans/trip.txt", "Leave on Monday.\n");
    const letter = await machine.write("letter.txt", "Bring a quince.\n");
    await machine.write("editor.sh", '#!/bin/sh\nprintf " in my own editor" >> "$1"\n');
    await Deno.chmod(`${machine.dir}/editor.sh`, 0o700);
    const model = ["--model", backend.ref(provider)];
    const mounts = ["--mount", `plans=${machine.dir}/plans`];
    const env = { ...machine.env, NO_COLOR: "1", EDITOR: `${machine.dir}/editor.sh` };
    const where = { env, cwd: machine.dir };
    const said = (): string => provider.received.at(-1)?.body ?? "";

    const screen = await openTmux(machine.command([...mounts, ...model]), where);
    try {
      await screen.shows((rows) => rows.at(-1) === "›");

      // Typed ahead: queued, taken back, changed; a slash command acts at once; a draft stays.
      const more = Promise.withResolvers<void>();
      provider.next(READS, { text: ["It begins ", more.promise, WORDS.join(" ")] }, {
        thoughts: ["A secret ", "thought."],
        ...says("Socks."),
      });
      await screen.type("When do I leave?");
      await screen.press("Enter");
      await screen.shows("It begins");
      await screen.type("And what do I pack");
      await screen.press("Enter");
      await screen.shows("queued 1  And what do I pack");
      await screen.press("Up");
      await screen.shows("» And what do I pack");
      await screen.type(" for a week?");
      await screen.press("Enter");
      await screen.type("/queue");
      await screen.press("Enter");
      await screen.shows("1  And what do I pack for a week?");
      await screen.type("a thought that I keep");
      await screen.shows("» a thought that I keep");
      await screen.shows(/tiny.* · .* in, .* out · .*USD/);
      more.resolve();
      await screen.shows((rows) => rows.at(-1) === "› a thought that I keep");
      const answered = await screen.all();
      assert.match(said(), /And what do I pack for a week\?/);
      assert.match(answered, /› And what do I pack for a week\?\n[^]*Socks\./);
      const lines = answered.split("\n").map((line) => line.trim());
      const shown = lines.join(" ").split(/\s+/);
      for (const word of WORDS) assert.ok(shown.includes(word), `"${word}" is whole on the screen`);
      assert.match(answered, /✻ thought, 17 characters\n\nSocks\./);
      assert.doesNotMatch(answered, /secret/, "what was thought is folded");
      assert.equal(answered.match(/It begins/g)?.length, 1, "an answer stands there once");
      assert.doesNotMatch(answered, /queued 1 [^]*queued 1 /, "no row of the line below is left");

      // What was typed before a question never answers it, and is not lost.
      await screen.press("C-u");
      const change = JSON.stringify({ path: "plans/trip.txt", old: "Monday", new: "Tuesday" });
      const held = Promise.withResolvers<void>();
      provider.next(
        { calls: [{ name: "file_edit", pieces: [change] }] },
        { text: ["I ask now. ", held.promise], calls: [{ name: "patch_apply", pieces: ["{}"] }] },
        says("Tuesday it is."),
        says("Noted."),
      );
      await screen.type("Move it to Tuesday");
      await screen.press("Enter");
      await screen.shows("I ask now.");
      await screen.type("y");
      await screen.press("Enter");
      await screen.type("yes");
      await screen.shows("» yes");
      held.resolve();
      await screen.shows("your answer ›");
      assert.equal(await machine.read("plans/trip.txt"), "Leave on Monday.\n");
      const rows = await screen.rows();
      assert.ok(rows.some((row) => row.includes("Remit asks for your consent")), rows.join("\n"));
      await screen.type("y");
      await screen.press("Enter");
      await screen.shows((now) => now.at(-1) === "› yes");
      assert.equal(await machine.read("plans/trip.txt"), "Leave on Tuesday.\n");
      assert.match(await screen.all(), /Noted\./, "the queued word was said after the turn");

      // A file by mention, completed with Tab; her own shell, given after a yes; her own editor.
      await screen.press("C-u");
      provider.next(says("A quince."));
      await screen.type("What do I bring? @let");
      await screen.press("Tab");
      await screen.shows("@letter.txt");
      await screen.press("Enter");
      await screen.shows("it reads this one file, 16 bytes, as YELLOW");
      await screen.shows((now) => now.includes("A quince.") && now.at(-1) === "›");
      assert.match(said(), /file \S*letter\.txt[^]*Bring a quince\./);
      provider.next(says("I see it."));
      await screen.type("!echo from my $((40+2)) shell");
      await screen.press("Enter");
      await screen.shows("give this output to the agent");
      assert.match(await screen.all(), /│ from my 42 shell/);
      assert.doesNotMatch(said(), /from my 42 shell/);
      await screen.type("y");
      await screen.press("Enter");
      await screen.shows((now) => now.includes("I see it.") && now.at(-1) === "›");
      assert.match(said(), /from my 42 shell/);
      provider.next(says("Well written."));
      await screen.type("Words");
      await screen.press("C-x", "C-e");
      await screen.shows("› Words in my own editor");
      await screen.press("Enter");
      await screen.shows((now) => now.includes("Well written.") && now.at(-1) === "›");
      assert.match(said(), /Words in my own editor/);

      for (
        const [command, shows] of [
          ["/cost", /tokens in/],
          ["/why", /nothing was refused/],
          ["/compact", /older turns give way/],
          ["/inspect", /patch_apply/],
          ["/agents", /YELLOW/],
          ["/tasks", /When do I leave/],
          ["/cap", /plans/],
          ["/allow", /for good: a rule/],
          ["/export talk.md", /talk\.md/],
          ["/copy", /clipboard/],
        ] as const
      ) {
        await screen.type(command);
        await screen.press("Enter");
        await screen.shows(shows);
        await screen.shows((now) => now.at(-1) === "›");
      }
      assert.match(await machine.read("talk.md"), /## Person\n\nWhen do I leave\?/);
      assert.ok(letter.endsWith("letter.txt"));
      await screen.type("/exit");
      await screen.press("Enter");
      await screen.shows("ENDED 0");
    } finally {
      await screen.close();
    }

    const next = await openTmux(machine.command(["-c", ...mounts, ...model]), where);
    try {
      await next.shows((rows) => rows.at(-1) === "›");
      assert.match(await next.all(), /› Words in my own editor\n\nWell written\./);
      await next.press("Up", "Up");
      await next.shows("› Words in my own editor");
      await next.press("C-u");
      await next.type("/clear");
      await next.press("Enter");
      await next.shows("a new conversation");
      provider.next(says("Another talk."));
      await next.type("Something else");
      await next.press("Enter");
      await next.shows((rows) => rows.includes("Another talk.") && rows.at(-1) === "›");
      assert.doesNotMatch(said(), /Well written/);
      await next.type("/resume");
      await next.press("Enter");
      await next.shows("number, or Enter for none ›");
      await next.type("1");
      await next.press("Enter");
      await next.shows((rows) => rows.includes("Well written.") && rows.at(-1) === "›");
      await next.type("/exit");
      await next.press("Enter");
      await next.shows("ENDED 0");
    } finally {
      await next.close();
    }
  });
});

Deno.test("bob's question about a long change stands on his screen with its headline, d pages through it, and Ctrl-C leaves his draft", async () => {
  if (!needs("tmux")) return;
  const backend = BACKENDS[1];
  assert.ok(backend !== undefined);
  await onMachine(async (machine) => {
    const lines = Array.from({ length: 90 }, (_, n) => `line ${n} of a long list`).join("\n");
    const write = JSON.stringify({ path: "plans/list.txt", content: `${lines}\n` });
    const never = Promise.withResolvers<void>();
    await using provider = backend.serve([
      { calls: [{ name: "file_write", pieces: [write] }] },
      { calls: [{ name: "patch_apply", pieces: ["{}"] }] },
      says("Written."),
      { text: ["It goes on ", never.promise, "for ever."] },
    ]);
    await keepKey(machine, backend, provider);
    await machine.write("plans/trip.txt", "Monday\n");
    const words = ["--mount", `plans=${machine.dir}/plans`, "--model", backend.ref(provider)];
    const screen = await openTmux(machine.command(words), {
      env: { ...machine.env, NO_COLOR: "1" },
      cwd: machine.dir,
    });
    const headline = (rows: readonly string[]): boolean =>
      rows.some((row) => row.startsWith("┃ apply staged changes: 1 new"));
    try {
      await screen.shows((rows) => rows.at(-1) === "›");
      await screen.type("Write a long list");
      await screen.press("Enter");
      await screen.shows((rows) => rows.at(-1) === "  your answer ›" && headline(rows));
      await screen.shows(/more lines: type d to see them all/);
      await screen.type("d");
      await screen.press("Enter");
      for (const page of [1, 2, 3, 4]) {
        await screen.shows((rows) =>
          headline(rows) && rows.at(-1)?.startsWith(`  page ${page} of `) === true
        );
        await screen.press("Enter");
      }
      for (;;) {
        const last = (await screen.rows()).at(-1) ?? "";
        if (last === "  your answer ›") break;
        await screen.press("Enter");
        await screen.shows((rows) => rows.at(-1) !== last);
      }
      assert.match(await screen.all(), /line 89 of a long list/);
      assert.ok(headline(await screen.rows()));
      await screen.type("y");
      await screen.press("Enter");
      await screen.shows((rows) => rows.includes("Written.") && rows.at(-1) === "›");
      await screen.type("Go on");
      await screen.press("Enter");
      await screen.shows("It goes on");
      await screen.type("my draft");
      await screen.shows("» my draft");
      await screen.press("C-c");
      await screen.shows("› my draft");
    } finally {
      never.resolve();
      await screen.close();
    }
  });
});

Deno.test("carol works on for many slow turns: each line of hers is said in its order, no word breaks, each term is explained once", async () => {
  if (!needs("tmux")) return;
  const backend = BACKENDS[1];
  assert.ok(backend !== undefined);
  await onMachine(async (machine) => {
    const turns = 12;
    const held = Array.from({ length: turns }, () => Promise.withResolvers<void>());
    const wordsOf = (n: number): string[] => WORDS.slice(0, 30).map((word) => `${word}-${n}`);
    await using provider = backend.serve(
      held.map(({ promise }, n) => ({ text: [`Begun ${n}. `, promise, wordsOf(n).join(" ")] })),
    );
    await keepKey(machine, backend, provider);
    await machine.write("plans/trip.txt", "Leave on Monday.\n");
    const words = ["--mount", `plans=${machine.dir}/plans`, "--model", backend.ref(provider)];
    const where = { env: { ...machine.env, NO_COLOR: "1" }, cwd: machine.dir };
    const screen = await openTmux(machine.command(words), where);
    const said = (): string => provider.received.at(-1)?.body ?? "";
    const rests = (now: readonly string[]): boolean => now.at(-1) === "›";
    const enter = async (text: string): Promise<void> => {
      await screen.type(text);
      await screen.press("Enter");
    };
    try {
      await screen.shows(rests);
      await enter("line 0 of carol");
      for (const [n, { resolve }] of held.entries()) {
        await screen.shows(`Begun ${n}.`);
        if (n + 1 < turns) {
          await enter(`line ${n + 1} of carol`);
          await screen.shows(`queued 1  line ${n + 1} of carol`);
        }
        resolve();
      }
      await screen.shows(rests);
      const all = await screen.all();
      const shown = new Set(all.split(/\s+/));
      for (let n = 0; n < turns; n++) {
        assert.match(all, new RegExp(`^› line ${n} of carol$`, "m"));
        assert.equal(all.split(`Begun ${n}.`).length, 2, "an answer stands there once");
        for (const word of wordsOf(n)) assert.ok(shown.has(word), `"${word}" is whole`);
        assert.ok(provider.received[n]?.body.includes(`line ${n} of carol`), "in its order");
      }

      // Rows of one text, by each way that there is.
      provider.next(says("Three rows."));
      await enter("one\\");
      await screen.type("two\x1b[13;2uthree");
      await screen.shows((now) => now.slice(-3).join("|") === "› one|  two|  three");
      await screen.press("Enter");
      await screen.shows((now) => now.includes("Three rows.") && rests(now));
      assert.ok(said().includes("one\\ntwo\\nthree"));

      // What was said before is found again; a wrong word is met with the right one.
      provider.next(says("Said again."));
      await screen.press("C-r");
      await screen.type("line 3");
      await screen.shows('search "line 3" › line 3 of carol');
      await screen.press("Enter");
      await screen.shows((now) => now.includes("Said again.") && rests(now));
      assert.ok(said().lastIndexOf("line 3 of carol") > said().lastIndexOf("Three rows."));
      await enter("/hlep");
      await screen.shows("did you mean /help?");
      await screen.shows(rests);
      await screen.press("C-l");
      await screen.shows((now) => now.length === 1 && rests(now));

      // A colour that falls is explained when it first does.
      for (const answer of ["Read once.", "Read twice."]) {
        provider.next(READS, says(answer));
        await screen.shows(rests);
        await enter("Read the plan");
        await screen.shows((now) => now.includes(answer) && rests(now));
      }
      assert.equal((await screen.all()).split("colour YELLOW: it has read").length, 2);

      // Esc ends a turn that goes on for ever, and a draft stays.
      const never = Promise.withResolvers<void>();
      provider.next({ text: ["It goes on ", never.promise] });
      await enter("Go on");
      await screen.shows("It goes on");
      await enter("this one waits");
      await screen.type("/drop 1");
      await screen.press("Enter");
      await screen.shows("taken out: this one waits");
      await screen.type("my draft");
      await screen.shows("» my draft");
      await screen.press("Escape");
      await screen.shows("› my draft");
      never.resolve();
    } finally {
      for (const { resolve } of held) resolve();
      await screen.close();
    }
  });
});
