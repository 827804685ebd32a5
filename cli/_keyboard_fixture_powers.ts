/** Run under a pseudo-terminal by terminal_test.ts: asks one line, and says what it heard. */
import { makeKeyboard, makeScreen } from "./terminal_powers.ts";

const screen = makeScreen();
const keyboard = makeKeyboard(screen);
if (keyboard === undefined) {
  screen.say("nobody");
  Deno.exit(3);
}
screen.say("ready");
// Stands for the work before a question: whoever types now types ahead.
await new Promise((resolve) => setTimeout(resolve, 400));
const line = await keyboard.line("PROMPT> ", { echo: Deno.args[0] !== "secret" });
screen.say(`HEARD[${line ?? "END"}]`);
Deno.exit(0);
