import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { Fault } from "../../contracts/base/fault.ts";
import type { NetSpend } from "../../contracts/wire/wire_net.ts";
import { connectTo, openProxy } from "../_fixture/proxy.ts";
import { reply, startSite } from "../_fixture/site.ts";
import { makeMeter } from "./meter.ts";

/** A kernel with so many bytes left: steps as they are counted there. */
function kernelWith(left: number) {
  const asked: Omit<NetSpend, "id">[] = [];
  return {
    asked,
    left: () => left,
    spend({ need, most }: Omit<NetSpend, "id">): Promise<number> {
      asked.push({ need, most });
      const bytes = most <= left ? most : need <= left ? need : undefined;
      if (bytes === undefined) {
        return Promise.reject(new Fault("budgetExhausted", "Cannot send: the budget is used up"));
      }
      left -= bytes;
      return Promise.resolve(bytes);
    },
  };
}

/** A server that says nothing and keeps what it hears. */
function startListener() {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  let heard = 0;
  const under: Promise<void>[] = [];
  const accepting = (async () => {
    for await (const connection of listener) {
      under.push((async () => {
        using open = connection;
        const buffer = new Uint8Array(65_536);
        try {
          for (let n = await open.read(buffer); n !== null; n = await open.read(buffer)) heard += n;
        } catch (error) {
          if (!(error instanceof Deno.errors.ConnectionReset)) throw error;
        }
      })());
    }
  })();
  return {
    host: `127.0.0.1:${listener.addr.port}`,
    heard: () => heard,
    async [Symbol.asyncDispose](): Promise<void> {
      listener.close();
      await accepting;
      await Promise.all(under);
    },
  };
}

const grant = (host: string) => ({ host, named: true });
const connect = (host: string): string => `CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;

Deno.test("steps grow with what was sent: what is counted is at most twice of it and the first step", async () => {
  const kernel = kernelWith(1e9);
  const meter = makeMeter(kernel.spend);
  let sent = 0;
  for (let n = 1; n < 2_000; n++) {
    await meter.spend(n);
    sent += n;
    ok(1e9 - kernel.left() >= sent, "nothing leaves uncounted");
    ok(1e9 - kernel.left() <= 2 * sent + 4_096, `${1e9 - kernel.left()} counted of ${sent}`);
  }
  ok(kernel.asked.length < 40, `${kernel.asked.length} steps`);
});

Deno.test("where no step fits the rest of a budget is used to its last byte, and no byte after it", async () => {
  const kernel = kernelWith(5_000);
  const meter = makeMeter(kernel.spend);
  await meter.spend(4_000);
  await meter.spend(1_000);
  equal(kernel.left(), 0);
  await rejects(meter.spend(1), /used up/);
  await rejects(meter.spend(1), /used up/);
});

Deno.test("many at once are given no byte twice, and one refusal is not the others'", async () => {
  const kernel = kernelWith(10_000);
  const meter = makeMeter(kernel.spend);
  const all = await Promise.allSettled([9_000, 600, 50_000, 300, 200].map(meter.spend));
  deepEqual(all.map(({ status }) => status === "fulfilled"), [true, true, false, true, false]);
  await meter.spend(100);
  equal(kernel.left(), 0);
});

Deno.test("mallory sends in small pieces over many connections that open and close: together they stay within the budget", async () => {
  await using listener = startListener();
  const kernel = kernelWith(8_000);
  await using proxy = await openProxy([grant(listener.host)], { spend: kernel.spend });
  let opened = 0, refused = "";
  while (refused === "") {
    using client = await connectTo(proxy.path);
    await client.write(connect(listener.host));
    const answer = await client.read();
    if (!/^HTTP\/1\.1 200 /.test(answer)) refused = answer + await client.rest();
    else {
      opened += 1;
      await client.write("a".repeat(10));
      await client.closeWrite();
      await client.rest();
    }
  }
  match(refused, /^HTTP\/1\.1 403 /);
  match(refused, /the budget is used up/);
  // A connection counts by itself: one that sends nothing tells something, too.
  ok(opened >= 8_000 / 300 && opened <= 8_000 / 256, `${opened} connections`);
  await proxy.close();
  ok(listener.heard() <= opened * 10);
  equal(kernel.left() < 256, true);
  equal(proxy.told.at(-1)?.ok, false);
});

Deno.test("an open tunnel is cut by the byte that no budget is left for, and the kernel is told", async () => {
  await using listener = startListener();
  const kernel = kernelWith(100_000);
  await using proxy = await openProxy([grant(listener.host)], { spend: kernel.spend });
  using client = await connectTo(proxy.path);
  await client.write(connect(listener.host));
  match(await client.read(), /^HTTP\/1\.1 200 /);
  try {
    for (let n = 0; n < 100; n++) await client.write(new Uint8Array(65_536));
    equal(await client.rest(), "", "nothing stands within the tunnel's own bytes");
  } catch (error) {
    if (
      !(error instanceof Deno.errors.BrokenPipe || error instanceof Deno.errors.ConnectionReset)
    ) {
      throw error;
    }
  }
  await proxy.close();
  ok(listener.heard() <= 100_000, `${listener.heard()} bytes arrived`);
  deepEqual(proxy.told.map(({ ok }) => ok), [true, false]);
  match(proxy.told[1]?.why ?? "", /used up/);
});

Deno.test("a body is counted piece by piece: what does not fit does not arrive, and the request fails", async () => {
  await using site = startSite(() => reply(200, {}, "taken"));
  const host = `127.0.0.1:${site.port}`;
  const kernel = kernelWith(20_000);
  await using proxy = await openProxy([grant(host)], { spend: kernel.spend });
  const post = (length: number): string =>
    `POST http://${host}/ HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${length}\r\n\r\n${
      "x".repeat(length)
    }`;
  match(await proxy.ask(post(5_000)), /taken$/);
  const counted = 20_000 - kernel.left();
  ok(counted >= 5_300 && counted <= 15_000, `${counted} counted`);
  const answer = await proxy.ask(post(19_000));
  equal(/^HTTP\/1\.1 200 /.test(answer), false, answer);
  equal(site.seen.filter(({ body }) => body.length === 19_000).length, 0);
});
