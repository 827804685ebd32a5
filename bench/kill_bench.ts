/** Ending a child that spins: SIGKILL to reaped. @module */
import { atMost, type Row } from "./row.ts";
import { quantile } from "./quantile.ts";
import { makeBenchWorld, timed } from "./world.ts";

const ROUNDS = 20;
const SPIN = `(() => ({ turn: () => { for (;;); } }))()`;

/** Gives the row "kill of a spinning child to reaped", against ending a bare `deno run` that waits. */
export async function killBench(): Promise<Row[]> {
  await using world = await makeBenchWorld(["worker"]);
  const children = await world.children();
  await Deno.writeTextFile(`${world.dir}/wait.js`, "console.log(1); setInterval(() => {}, 1e6)");
  const kills: number[] = [];
  const bare: number[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    const child = await children.worker({ ask: () => null, tell: () => undefined });
    await child.port.ask("start", {
      caps: { model: 1, tools: 2, children: 3 },
      limits: { outputTokens: 1, contextWindow: 1_000, iterations: 1, retries: 0 },
      conversation: [{
        role: "system",
        content: "bench",
        provenance: { origin: "kernel", colour: "BLUE", label: "public" },
      }],
      program: SPIN,
    });
    const spinning = child.port.ask("turn", {}).catch(() => undefined);
    // Long enough to be spinning: there is nothing that it could tell us by.
    await new Promise((resolve) => setTimeout(resolve, 20));
    kills.push(await timed(() => child.kill()));
    await spinning;
    bare.push(await bareKill(world.deno, `${world.dir}/wait.js`));
  }
  const value = quantile(kills, 0.5);
  const baseline = quantile(bare, 0.5);
  const name = "kill of a spinning child to reaped";
  // As long again for a child that was at work, and for the kernel's own book-keeping.
  return [atMost({ name, value, unit: "ms", baseline }, 2, "that of a bare child that waits")];
}

async function bareKill(deno: string, file: string): Promise<number> {
  const child = new Deno.Command(deno, {
    args: ["run", file],
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const reader = child.stdout.getReader();
  await reader.read();
  const took = await timed(async () => {
    child.kill("SIGKILL");
    await child.status;
  });
  await reader.cancel();
  return took;
}
