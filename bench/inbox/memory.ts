/** Prints what 10,000 messages keep in memory, waiting and then settled: a process of its own, so that nothing else counts. */
import { openInboxWorld } from "./world.ts";

const [dir = "", count = "0", bytes = "0"] = Deno.args;
const collect = (globalThis as { gc?: () => void }).gc;

function heap(): number {
  for (let i = 0; i < 3; i++) collect?.();
  return Deno.memoryUsage().heapUsed;
}

const world = await openInboxWorld(dir);
await world.put(Number(bytes));
const before = heap();
const some = [];
for (let left = Number(count); left > 0; left -= 100) {
  const put = Array.from({ length: 100 }, () => world.put(Number(bytes)));
  some.push(...(await Promise.all(put)).map(({ id }) => id));
}
const waiting = heap() - before;
while (some.length > 0) await world.deliver(some.splice(-100));
const settled = heap() - before;
Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify({ waiting, settled })));
await world.close();
