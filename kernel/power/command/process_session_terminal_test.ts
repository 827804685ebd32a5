/** A session in a terminal, and what the programs of sessions find around them. */
import assert from "node:assert/strict";
import { eventually, processesWith } from "../../_fixture/session_bench.ts";
import { CAT, long, PYTHON, SH, test } from "../../_fixture/session_cases.ts";

const LOOK = "import os,sys;print([os.isatty(n) for n in (0,1,2)],sys.argv[1:]," +
  "sorted(os.environ),any('signals' in os.readlink(f'/proc/self/fd/{n}') for n in (3,4,5,6,7,8,9) if os.path.exists(f'/proc/self/fd/{n}')),flush=True);" +
  "print(os.isatty(0) and os.get_terminal_size())";

test("a terminal is one only where it was asked for, of the size asked for; python sees its very words", async ({ start, until }) => {
  const words = [
    "a b",
    "$(id)",
    "`id`",
    "'\"\\",
    "",
    "-c",
    "*",
    "x\ny",
    "%s",
    "$REMIT_WORD_0",
    "ä",
  ];
  const shown =
    "['a b', '$(id)', '`id`', '\\'\"\\\\', '', '-c', '*', 'x\\ny', '%s', '$REMIT_WORD_0', 'ä']";
  const names = ["HOME", "LANG", "NO_COLOR", "PATH", "PWD", "TERM", "TMPDIR"];
  const plain = await start(PYTHON, ["-c", LOOK, ...words]);
  const { stdout: seen } = await until(plain, /never/);
  assert.ok(seen.startsWith(`[False, False, False] ${shown} ${listed(names)} `), seen);
  assert.match(seen, / False\nFalse\n$/);
  const pty = await start(PYTHON, ["-c", LOOK, ...words], { terminal: { rows: 33, columns: 111 } });
  const { stdout, stderr, exit } = await until(pty, /never/);
  assert.ok(
    stdout.startsWith(`[True, True, True] ${shown} ${listed([...names, "SHELL"].sort())} `),
    stdout,
  );
  assert.match(stdout, / False\nos\.terminal_size\(columns=111, lines=33\)\n$/);
  assert.deepEqual([stderr, exit], ["", 0]);
});

function listed(names: readonly string[]): string {
  return `[${names.map((name) => `'${name}'`).join(", ")}]`;
}

test("in a terminal: echo, an interrupt by its character, the end of input, no escape sequences", async ({ start, write, until }) => {
  const sh = await start(SH, ["-i"], { terminal: { rows: 24, columns: 80 } });
  await until(sh, /[$#] $/);
  await write(sh, "printf '\\033]0;title\\007\\033[1;31mre\\033[0md%s\\033[2J\\n' dish\n");
  assert.match((await until(sh, /\nreddish\n/)).stdout, /^printf [^\n]*\nreddish\n/);
  await write(sh, `sleep ${long(7)}\n`);
  await eventually(() => processesWith(long(7)).length === 1);
  await write(sh, "\u0003");
  await until(sh, /\^C/);
  await eventually(() => processesWith(long(7)).length === 0);
  await write(sh, "exit 5\n");
  const { state, exit } = await until(sh, /never/);
  assert.deepEqual([state, exit], ["exited", 5]);

  const cat = await start(CAT, [], { terminal: { rows: 24, columns: 80 } });
  await write(cat, "line\n", true);
  const ended = await until(cat, /never/);
  assert.deepEqual([ended.stdout, ended.exit], ["line\nline\n", 0]);
});

test(
  "a call's variables change nothing about how the program is begun",
  async ({ start, until }) => {
    const env = {
      ...{ SHELL: "/m/desk/evil", ENV: "/m/desk/evil", BASH_ENV: "/m/desk/evil", IFS: "i/" },
      ...{ REMIT_WORDS: "1", REMIT_WORD_0: "/m/desk/evil", PATH: "/m/desk", SHELLOPTS: "xtrace" },
      PS4: "$(/m/desk/evil)",
    };
    for (const terminal of [undefined, { rows: 5, columns: 80 }]) {
      const id = await start("/usr/bin/printf", ["%s\n", "granted"], {
        ...{ env, ...(terminal === undefined ? {} : { terminal }) },
      });
      const { stdout } = await until(id, /never/);
      assert.ok(/granted\n$/.test(stdout) && !/EVIL/.test(stdout), stdout);
    }
  },
  { evil: "#!/bin/sh\necho EVIL\n" },
);
