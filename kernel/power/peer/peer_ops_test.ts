import { deepEqual, equal, rejects } from "node:assert/strict";
import { Fault } from "../../../contracts/base/fault.ts";
import type { Child } from "../../core/child/child.ts";
import { makeDeliver } from "./peer_ops.ts";

Deno.test("a delivery to a peer is counted before it is sent, and one that no budget is left for is not sent", async () => {
  const sent: string[] = [], counted: number[] = [];
  const child = {
    port: {
      ask(op: string) {
        sent.push(op);
        return Promise.resolve({
          ...{ status: 204, url: "https://peer.example/", headers: {}, body: "", bytes: 0 },
          ...{ cut: false, hops: [] },
        });
      },
    },
  } as unknown as Child;
  const deliver = makeDeliver({
    net: { provide: () => Promise.resolve(child), freshId: () => "n1" },
    uses: {
      take(user, { egressBytes = 0 }) {
        equal(user.task, undefined, "it is the operator's");
        counted.push(egressBytes);
        if (counted.length === 1) return Promise.resolve(() => undefined);
        return Promise.reject(new Fault("budgetExhausted", "Cannot deliver: it is used up"));
      },
    },
  });
  const delivery = {
    ...{ url: "https://peer.example/hook", headers: { "x-a": "1" }, body: "é" },
    origins: ["https://peer.example"],
  };
  deepEqual(await deliver(delivery), { status: 204 });
  await rejects(deliver(delivery), /used up/);
  deepEqual(sent, ["fetch"]);
  const text = "POST https://peer.example/hook\r\nx-a: 1\r\n\r\né";
  deepEqual(counted, Array(2).fill(new TextEncoder().encode(text).length));
  await rejects(deliver({ ...delivery, url: "https://other.example/" }), /not one that/);
  equal(counted.length, 2, "what is refused anyway is not counted");
});
