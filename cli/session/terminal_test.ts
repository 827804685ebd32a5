import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { KEY_MARKS } from "./line_keys.ts";

const FIXTURE = fileURLToPath(new URL("../_fixture/keyboard_powers.ts", import.meta.url));

/** Whether util-linux's `script`, which makes a pseudo-terminal, is on this machine. */
const hasScript = await new Deno.Command("script", { args: ["--version"], stdout: "null" }).output()
  .then(({ success }) => success, () => false);
const ignore = !hasScript && Deno.env.get("CI") !== "true";

/** What is done when a cue is seen: a text is typed. */
type Deed = string | (() => Promise<void>);

const fixture = (argument: string): string =>
  `${Deno.execPath()} run --quiet -A ${FIXTURE} ${argument}`;

/** Runs the fixture, or another command, on a terminal; does what belongs to each cue when it is seen after the last. */
async function onTerminal(
  cues: readonly (readonly [string, Deed])[],
  argument = "",
  command = fixture(argument),
): Promise<string> {
  const child = new Deno.Command("script", {
    args: ["-qec", command, "/dev/null"],
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
    env: { NO_COLOR: "1", TERM: "xterm-256color" },
  }).spawn();
  const input = child.stdin.getWriter();
  const decoder = new TextDecoder();
  let seen = "";
  let next = 0;
  let from = 0;
  for await (const chunk of child.stdout) {
    seen += decoder.decode(chunk, { stream: true });
    for (let cue = cues[next]; cue !== undefined; cue = cues[next]) {
      const [text, deed] = cue;
      const at = seen.indexOf(text, from);
      if (at < 0) break;
      from = at + text.length;
      next += 1;
      if (typeof deed === "string") await input.write(new TextEncoder().encode(deed));
      else await deed();
    }
  }
  await child.status;
  await input.close().catch(() => undefined);
  return seen;
}

Deno.test({
  name: "what was typed before a question is thrown away, a finished line and a begun one",
  ignore,
  async fn(): Promise<void> {
    const folder = await Deno.makeTempDir();
    const work = `${folder}/done`;
    // What is typed ahead has reached the terminal when it is echoed.
    const seen = await onTerminal([
      ["ready", "y\nye"],
      ["y\r\nye", () => Deno.writeTextFile(work, "")],
      ["PROMPT> ", "n\n"],
    ], `plain ${work}`);
    await Deno.remove(folder, { recursive: true });
    assert.match(seen, /HEARD\[n\]/);
  },
});

Deno.test({
  name: "backspace takes a letter back, and Ctrl-D on an empty line is its end",
  ignore,
  async fn(): Promise<void> {
    assert.match(await onTerminal([["PROMPT> ", "yé\x7f\x7fn\n"]]), /HEARD\[n\]/);
    assert.match(await onTerminal([["PROMPT> ", "\x04"]]), /HEARD\[END\]/);
  },
});

Deno.test({
  name: "a passphrase is not echoed",
  ignore,
  async fn(): Promise<void> {
    const seen = await onTerminal([["PROMPT> ", "hunter22\n"]], "secret");
    assert.equal(seen.split("hunter22").length, 2, "once, in what was heard");
  },
});

const SHELL = "env PS1='SHELL$ ' bash --norc --noprofile -i";

Deno.test({
  name: "a passphrase is not echoed after Ctrl-Z and fg either, nor after a stop from elsewhere",
  ignore,
  async fn(): Promise<void> {
    for (const stop of ["\x1a", stopTheFixture]) {
      const seen = await onTerminal(
        [
          ["SHELL$ ", `${fixture("secret")}\n`],
          ["PROMPT> \x1b[?2004h", stop],
          ["Stopped", ""],
          ["SHELL$ ", "fg\n"],
          ["PROMPT> \x1b[?2004h", "hunter22\n"],
          ["SHELL$ ", "exit\n"],
        ],
        "",
        SHELL,
      );
      assert.equal(seen.split("hunter22").length, 2, `once, in what was heard: ${seen}`);
      assert.match(seen, /HEARD\[hunter22\]/);
    }
  },
});

/** Stops the one process that runs the fixture, as another terminal would. */
async function stopTheFixture(): Promise<void> {
  for await (const { name } of Deno.readDir("/proc")) {
    const line = await Deno.readTextFile(`/proc/${name}/cmdline`).catch(() => "");
    if (line.startsWith(Deno.execPath()) && line.includes(`${FIXTURE}\0secret`)) {
      Deno.kill(Number(name), "SIGSTOP");
    }
  }
}

Deno.test({
  name:
    "control characters in a paste make no signal: the session lives, the shell reads none of it",
  ignore,
  async fn(): Promise<void> {
    for (const mode of ["many", "plain", "secret"]) {
      const seen = await onTerminal(
        [
          ["SHELL$ ", `${fixture(mode)}\n`],
          ["PROMPT> \x1b[?2004h", "\x1b[200~one\x03\x1a\x1c\x13\x16\x0ftwo\x1b[201~\r"],
          ...(mode === "many" ? [["MORE> \x1b[?2004h", "\x03"] as const] : []),
          ["SHELL$ ", "exit\n"],
        ],
        "",
        SHELL,
      );
      assert.match(seen, /HEARD\[onetwo\]/, mode);
    }
  },
});

Deno.test({
  name: "Ctrl-C at a question ends it without ending the process in raw mode",
  ignore,
  async fn(): Promise<void> {
    assert.match(await onTerminal([["PROMPT> ", "\x03"]]), /HEARD\[END\]/);
  },
});

Deno.test({
  name:
    "a paste of many lines is one text, the arrow up brings it back, and Ctrl-C empties it first",
  ignore,
  async fn(): Promise<void> {
    const seen = await onTerminal([
      ["PROMPT> ", "dear \x1b[200~one\r\ntwo\x1b[201~!\x1b[D\x1b[D漢\n"],
      ["MORE> ", "x"],
      ["\x1b[>4;1mx", "\x03"],
      ["\r\x1b[JMORE> ", "\x1b[A\n"],
    ], "many");
    const text = "dear one\\r?\\ntw漢o!";
    assert.match(seen, new RegExp(`HEARD\\[${text}\\]`));
    assert.match(seen, new RegExp(`AGAIN\\[${text}\\]`));
    assert.ok(seen.includes("\x1b[?2004l"), "the terminal is left as it was");
    const told = (mark: string): number => seen.split(mark).length;
    assert.equal(told(KEY_MARKS.on), told(KEY_MARKS.off), "also in what it tells of keys");
    const question = await onTerminal([["PROMPT> ", "y\n"]]);
    assert.ok(!question.includes(KEY_MARKS.on), "a question has no use for Shift-Enter");
  },
});

Deno.test("without a terminal there is nobody to ask", async () => {
  const { code } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "-A", FIXTURE],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).output();
  assert.equal(code, 3);
});
