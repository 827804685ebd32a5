import { deepEqual, equal, rejects } from "node:assert/strict";
import { Fault } from "../../contracts/base/fault.ts";
import { startNameServer } from "../_fixture/name_server.ts";
import { allowed, isFault, makeInService, makeNames, makeUpAnswers } from "../_fixture/parts.ts";
import { resolvingNames } from "./resolver.ts";
import { makeSystemResolver } from "./resolver_powers.ts";

const { signal } = new AbortController();

Deno.test("a real name server is asked for both kinds of address of exactly the name", async () => {
  await using server = await startNameServer((type) =>
    type === "A" ? ["93.184.216.34", "10.0.0.1"] : ["2606:4700:0:0:0:0:0:1"]
  );
  const found = await makeSystemResolver(server).resolve("a.example", signal);
  deepEqual([...found].sort(), ["10.0.0.1", "2606:4700::1", "93.184.216.34"]);
  deepEqual([...server.asked].sort(), ["A a.example", "AAAA a.example"]);
});

Deno.test("nothing is kept, though the answer may be: a real server that flips is seen to", async () => {
  let times = 0;
  await using server = await startNameServer((type) =>
    type === "AAAA" ? [] : [times++ === 0 ? "93.184.216.34" : "127.0.0.1"]
  );
  const exchange = makeUpAnswers(() => ({ status: 302, headers: [["location", "/again"]] }));
  const service = makeInService({ resolver: makeSystemResolver(server), exchange });
  const got = await service.ask({
    url: "http://flip.example/",
    allow: allowed("http://flip.example"),
  });
  equal(got.stopped?.why.includes("loopback"), true);
  deepEqual(exchange.sent.map(({ address }) => address), ["93.184.216.34"]);
});

Deno.test("no such name is notFound, and one kind of address is enough", async () => {
  await using none = await startNameServer(() => "none");
  await rejects(makeSystemResolver(none).resolve("a.example", signal), isFault("notFound"));
  await using one = await startNameServer((type) => type === "A" ? "none" : ["0:0:0:0:0:0:0:1"]);
  deepEqual(await makeSystemResolver(one).resolve("a.example", signal), ["::1"]);
});

Deno.test("a server that is silent does not hold up a cancel", async () => {
  const asked = Promise.withResolvers<void>();
  await using server = await startNameServer(() => {
    asked.resolve();
    return "silence";
  });
  const abort = new AbortController();
  const waiting = makeSystemResolver(server).resolve("a.example", abort.signal);
  await asked.promise;
  abort.abort(new Fault("cancelled", "Cannot fetch: cancelled"));
  await rejects(waiting, isFault("cancelled"));
});

Deno.test("localhost is never asked for, and what is no host name is asked of nobody", async () => {
  const names = makeNames({ "a.example": [["93.184.216.34"]] });
  const resolver = resolvingNames(names);
  for (const host of ["localhost", "localhost.", "a.localhost", "a.b.localhost."]) {
    deepEqual(await resolver.resolve(host, signal), ["127.0.0.1", "::1"]);
  }
  const strange = ["", ".", "a..b", "-a", "a-", "a b", "ä", "a%00", "A.example", "a".repeat(64)];
  for (const host of [...strange, `${"a.".repeat(127)}aa`]) {
    await rejects(resolver.resolve(host, signal), isFault("refused"), host);
  }
  await resolver.resolve("a.example.", signal);
  deepEqual(names.asked, ["a.example"]);
});
