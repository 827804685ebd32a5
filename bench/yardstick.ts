/** How fast this machine is, against the one that targets in milliseconds were set on. docs/decision/0027. @module */
import { median } from "./quantile.ts";
import { timed } from "./world.ts";

/** A bare `deno run` of an empty file where the targets were set, milliseconds: FACTS section 7 has 12.8 to 13.6. */
const REFERENCE_MS = 13.2;
const ROUNDS = 10;

/** How many times as long a bare `deno run` takes here and now as it took there; 1 on a machine that is faster. */
export async function slowness(): Promise<number> {
  const empty = await Deno.makeTempFile({ suffix: ".js" });
  const run = (): Promise<Deno.CommandOutput> =>
    new Deno.Command(Deno.execPath(), { args: ["run", empty], stdout: "null", stderr: "null" })
      .output();
  const times: number[] = [];
  try {
    for (let round = -2; round < ROUNDS; round++) {
      const took = await timed(run);
      if (round >= 0) times.push(took);
    }
  } finally {
    await Deno.remove(empty);
  }
  return Math.max(1, median(times) / REFERENCE_MS);
}
