/** Run under a pseudo-terminal by session/terminal_test.ts: asks for one line, and prints what was typed. */
import { makeKeyboard } from "../session/keyboard_powers.ts";
import { makeScreen } from "../terminal/terminal_powers.ts";

const screen = makeScreen();
const keyboard = makeKeyboard(screen);
if (keyboard === undefined) {
  screen.say("nobody");
  Deno.exit(3);
}
screen.say("ready");
const [mode, work] = Deno.args;
// The work before a question ends when this file exists: earlier input is typed ahead.
while (work !== undefined && !await Deno.stat(work).then(() => true, () => false)) {
  // TIMER: a file that another process writes gives no event.
  await new Promise((resolve) => setTimeout(resolve, 10));
}
const line = await keyboard.line("PROMPT> ", { echo: mode !== "secret", many: mode === "many" });
screen.say(`HEARD[${line ?? "END"}]`);
if (mode === "many") screen.say(`AGAIN[${await keyboard.line("MORE> ", { many: true }) ?? "END"}]`);
Deno.exit(0);
