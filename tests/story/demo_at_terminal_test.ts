/** The demo as carol sees it: at a real terminal, with a question that only she can answer. */
import assert from "node:assert/strict";
import { type Machine, onMachine } from "../fake/remit.ts";
import { openTerminal, type Terminal } from "../fake/terminal.ts";
import { needs } from "../needs.ts";

const OLD = "- [ ] call the supplier back about the lanterns";
const NEW = "- [x] call the supplier back about the lanterns";
const PROMPT = "your answer";

async function atTerminal(
  machine: Machine,
  f: (terminal: Terminal) => Promise<void>,
): Promise<void> {
  const terminal = openTerminal(machine.command(["run"]), { env: machine.env, cwd: machine.dir });
  try {
    await f(terminal);
  } finally {
    await terminal.close();
  }
}

async function planOf(screen: string): Promise<string> {
  const [, desk = ""] = /^ {2}desk +(\S+)/m.exec(screen) ?? [];
  return await Deno.readTextFile(`${desk}/notes/plan.md`);
}

Deno.test("carol types ahead, presses Enter, and nothing is allowed: the frame came first", async () => {
  if (!needs("script")) return;
  await onMachine(async (machine) => {
    await atTerminal(machine, async (terminal) => {
      // Mallory got carol to type a yes before there was anything to say yes to.
      await terminal.type("y\ny\n");
      await terminal.shows("file_edit");
      await terminal.type("y\n");
      const asked = await terminal.shows(PROMPT);
      // The frame: tool, exact change, what was read, the rule, and how many were asked.
      assert.match(asked, /┃ .*patch_apply/);
      assert.match(asked, /question 1 of this task/);
      assert(asked.includes(`-${OLD}`) && asked.includes(`+${NEW}`), asked);
      assert.match(asked, /┃ .*desk\/inbox\/2026-11-18-supplier\.eml/);
      assert.match(asked, /rule .*changes are reviewed/);
      assert((await planOf(asked)).includes(OLD), "nothing is applied while she thinks");

      await terminal.type("\r");
      assert.equal(await terminal.ended(), 0);
      const end = terminal.screen();
      assert.match(end, /asked +patch_apply: deny, by terminal/);
      assert.equal(
        end.split("Remit asks").length,
        2,
        "a change that she refused is not asked again",
      );
      assert((await planOf(end)).includes(OLD));
    });
  });
});

Deno.test("carol reads the diff, says y, and the change is in her folder; no escape of the mail reaches her", async () => {
  if (!needs("script")) return;
  await onMachine(async (machine) => {
    await atTerminal(machine, async (terminal) => {
      await terminal.shows(PROMPT);
      await terminal.type("what?\r");
      await terminal.shows("no answer");
      await terminal.shows(PROMPT, 2);
      await terminal.type("y\r");
      assert.equal(await terminal.ended(), 0);
      const screen = terminal.screen();
      assert.match(screen, /asked +patch_apply: allow, by terminal/);
      const plan = await planOf(screen);
      assert(plan.includes(NEW) && !plan.includes(OLD));
      // NO_COLOR: the only escape is the one that clears a line that was overwritten.
      // deno-lint-ignore no-control-regex -- escapes are what it looks for
      assert.doesNotMatch(screen.replaceAll(/\x1b\[(?:K|\?2004[hl])/g, ""), /\x1b/);
    });
  });
});
