/** init: the command line's process. Wires its powers, and nothing else. @module */
import { verifyReceipt } from "../broker/audit/mod.ts";
import { readAround } from "./around_powers.ts";
import { makeDisk } from "./disk_powers.ts";
import { runCommandLine } from "./dispatch.ts";
import { makeKernels } from "./kernels_powers.ts";
import { makeInterrupts, makeKeyboard, makeScreen, readInput } from "./terminal_powers.ts";
import { makeWalls } from "./walls_powers.ts";

const home = Deno.realPathSync(new URL("..", import.meta.url));
const screen = makeScreen();
const around = readAround(home);
const disk = makeDisk();

Deno.exit(
  await runCommandLine(Deno.args, {
    screen,
    keyboard: makeKeyboard(screen),
    disk,
    around,
    interrupts: makeInterrupts(),
    receipts: { verify: verifyReceipt },
    walls: makeWalls(),
    kernels: (places) => makeKernels({ places, around, disk, screen }),
    readInput,
  }),
);
