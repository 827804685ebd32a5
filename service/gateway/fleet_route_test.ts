/** What a gateway lets through to the kernels of a fleet: questions with a token that the starter knows, and no others. */
import { deepEqual, equal } from "node:assert/strict";
import { Fault } from "../../contracts/base/fault.ts";
import type { Json } from "../../contracts/base/json.ts";
import { makeService, type Service } from "./_fixture/service.ts";

interface Asked {
  readonly token: string;
  readonly op: string;
  readonly body: Json;
}

function fleetService(): { readonly service: Service; readonly asked: Asked[] } {
  const asked: Asked[] = [];
  const service = makeService({
    asks: {
      fleet(given) {
        asked.push(given);
        if (given.token === "carol-carol") return Promise.resolve({ value: [given.op] });
        return Promise.reject(new Fault("denied", "Cannot let it in: its token is not known"));
      },
    },
  });
  return { service, asked };
}

const post = (
  service: Service,
  body: string,
  token?: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> =>
  service.ask("/fleet", {
    method: "POST",
    body,
    headers: { ...headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
  });
const TASKS = JSON.stringify({ op: "tasks", body: {} });

Deno.test("carol's token asks; without one, with another, or with no question of ours nobody does", async () => {
  const { service, asked } = fleetService();
  const answer = await post(service, TASKS, "carol-carol");
  deepEqual([answer.status, await answer.json()], [200, { value: ["tasks"] }]);
  equal(answer.headers.get("cache-control"), "no-store");
  equal((await post(service, TASKS)).status, 401);
  equal((await post(service, TASKS, "mallory-mallory")).status, 401);
  equal(asked.length, 2);
  for (
    const wrong of [
      ...["", "[]", "{", '{"op":"tasks"}', '{"op":"../x","body":null}'],
      ...['{"op":"tasks","body":{},"profile":"operator"}', '{"op":"tasks","body":{},"by":"root"}'],
    ]
  ) {
    equal((await post(service, wrong, "carol-carol")).status, 400, wrong);
  }
  equal(asked.length, 2, "what does not parse is passed to nobody");
  equal((await service.ask("/fleet")).status, 404, "it is asked, not read");
});

Deno.test("a page of another site asks nothing with a token that a browser would send", async () => {
  const { service, asked } = fleetService();
  const other = await post(service, TASKS, "carol-carol", { origin: "http://evil.example" });
  equal(other.status, 403);
  const named = await post(service, TASKS, "carol-carol", { host: "evil.example:7433" });
  equal(named.status, 403);
  equal(asked.length, 0);
});

Deno.test("who tries tokens is slowed down", async () => {
  const { service } = fleetService();
  const tries: number[] = [];
  for (let n = 0; n < 30; n++) {
    const answer = await post(service, TASKS, `guess-${n}-guess`);
    tries.push(answer.status);
  }
  equal(tries.filter((status) => status === 401).length <= 20, true, String(tries));
  equal(tries.at(-1), 429);
});
