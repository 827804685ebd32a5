/**
 * A process for the kit (a2aproject/a2a-tck): the product's protocol at an address of its own, over exchanges in memory that
 * do what the ids of the kit's messages say. The kit knows no tokens, so each request is the one peer's.
 * `deno run -A tests/conformance/fixture_a2a.ts [PORT]`; prints its address.
 */
import { makeA2aServer } from "../../bridges/a2a/serve/mod.ts";
import { after } from "../../service/gateway/gateway_powers.ts";
import { fakeStarter } from "./_a2a_exchanges.ts";
import { KIT_SCENARIOS } from "./_a2a_scenarios.ts";
import { kitCard } from "./_a2a_card.ts";
import { deliver } from "./_a2a_deliveries.ts";

const [port = "0"] = Deno.args;
const setting = { url: "" };
const starter = fakeStarter({
  tokens: { kit: { peer: "kit", push: true } },
  scenarios: KIT_SCENARIOS,
  card: () => kitCard(setting.url),
  now: () => Date.now(),
});
starter.onChange = (exchange) => void deliver(exchange);
const server = makeA2aServer({
  ...{ port: starter, after },
  randomId: () => crypto.randomUUID().replaceAll("-", ""),
  note: (text) => void Deno.stderr.writeSync(new TextEncoder().encode(`${text}\n`)),
});
starter.hear(server.heard);
const holder = { peer: "kit", perMinute: 1_000_000, progress: false, push: true };
const listening = Deno.serve({
  hostname: "127.0.0.1",
  port: Number(port),
  onListen: ({ port: taken }) => {
    setting.url = `http://127.0.0.1:${taken}`;
    Deno.stdout.writeSync(new TextEncoder().encode(`${setting.url}\n`));
  },
}, async (request) => {
  const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
  return await server.fetch(request, body, { token: "kit", holder: holder as never });
});
await listening.finished;
