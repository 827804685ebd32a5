/** What starts and tasks are measured with: a bare `deno run` here and now. docs/decision/0050. @module */
import { median } from "./quantile.ts";
import { timed } from "./world.ts";

/** Milliseconds that a bare `deno run` of an empty file takes, median; the first two warm Deno's cache. */
export async function bareStart(rounds = 10): Promise<number> {
  const empty = await Deno.makeTempFile({ suffix: ".js" });
  const run = (): Promise<Deno.CommandOutput> =>
    new Deno.Command(Deno.execPath(), { args: ["run", empty], stdout: "null", stderr: "null" })
      .output();
  const times: number[] = [];
  try {
    for (let round = -2; round < rounds; round++) {
      const took = await timed(run);
      if (round >= 0) times.push(took);
    }
  } finally {
    await Deno.remove(empty);
  }
  return median(times);
}
