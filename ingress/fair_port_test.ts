import assert from "node:assert/strict";
import { Fault } from "../contracts/fault.ts";
import type { Json } from "../contracts/json.ts";
import { makeFairPort } from "./fair_port.ts";

/** A starter that answers when it is told to. */
function slow(): {
  readonly port: { ask(op: string, body: Json): Promise<Json>; tell(): void };
  readonly waiting: (() => void)[];
} {
  const waiting: (() => void)[] = [];
  const ask = (): Promise<Json> =>
    new Promise((resolve, reject) =>
      waiting.push(() =>
        waiting.length % 2 === 0 ? resolve(null) : reject(new Fault("denied", "Cannot"))
      )
    );
  return { port: { ask, tell: () => undefined }, waiting };
}

const limited = { code: "rateLimited" };

Deno.test("mallory's requests at once stop at her share, and alice, a webhook and the page are asked for", async () => {
  const { port, waiting } = slow();
  const fair = makeFairPort(port);
  const ask = (token: string): Promise<Json> => fair.ask("a2aGet", { token });
  const hers = Array.from({ length: 256 }, () => ask("mallory"));
  await assert.rejects(ask("mallory"), limited);
  const others = [ask("alice"), fair.ask("hook", { path: "/hooks/ci" }), fair.ask("ready", null)];
  assert.equal(waiting.length, 259);
  for (const end of waiting.splice(0)) end();
  await Promise.allSettled([...hers, ...others]);
  const again = ask("mallory");
  for (const end of waiting) end();
  await again.catch(() => undefined);
  assert.equal(waiting.length, 1, "what is over, well or not, is not counted");
});

Deno.test("many credentials that mallory made up leave room for who has none", async () => {
  const { port, waiting } = slow();
  const fair = makeFairPort(port);
  const tried = Array.from({ length: 464 }, (_, at) => fair.ask("a2aAdmit", { token: `t${at}` }));
  const late = await Promise.allSettled(tried.slice(448));
  assert.ok(late.every((each) => each.status === "rejected" && each.reason.code === "rateLimited"));
  const page = fair.ask("pageView", { session: "s" });
  assert.equal(waiting.length, 449);
  for (const end of waiting.splice(0)) end();
  await Promise.allSettled([...tried, page]);
});
