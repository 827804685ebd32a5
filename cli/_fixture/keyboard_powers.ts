/** Run under a pseudo-terminal by terminal_test.ts: asks one line, and says what it heard. */
import { makeKeyboard } from "../keyboard_powers.ts";
import { makeScreen } from "../terminal_powers.ts";

const screen = makeScreen();
const keyboard = makeKeyboard(screen);
if (keyboard === undefined) {
  screen.say("nobody");
  Deno.exit(3);
}
screen.say("ready");
// Stands for the work before a question: whoever types now types ahead.
await new Promise((resolve) => setTimeout(resolve, 400));
const [mode] = Deno.args;
const line = await keyboard.line("PROMPT> ", { echo: mode !== "secret", many: mode === "many" });
screen.say(`HEARD[${line ?? "END"}]`);
if (mode === "many") screen.say(`AGAIN[${await keyboard.line("MORE> ", { many: true }) ?? "END"}]`);
Deno.exit(0);
