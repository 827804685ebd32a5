import { deepEqual, equal, match, rejects, throws } from "node:assert/strict";
import {
  allowed,
  isFault,
  makeInService,
  makeNames,
  makeUpAnswers,
  named,
  textOf,
} from "./_fixture/parts.ts";
import { redirect, reply, startSite } from "./_fixture/site.ts";
import { makeExchange } from "./exchange_powers.ts";

const PUBLIC = "93.184.216.34";

Deno.test("an answer that flips after the check is never asked for: a hop resolves once", async () => {
  const names = makeNames({ "flip.example": [[PUBLIC], ["127.0.0.1"]] });
  const exchange = makeUpAnswers(() => ({ status: 200, body: "x" }));
  const service = makeInService({ resolver: names, exchange });
  const origin = "http://flip.example";
  await service.ask({ url: `${origin}/`, allow: allowed(origin) });
  deepEqual(names.asked, ["flip.example"]);
  deepEqual(exchange.sent.map(({ address }) => address), [PUBLIC]);
  await rejects(
    service.ask({ url: `${origin}/`, allow: allowed(origin) }),
    isFault("refused", "loopback"),
  );
});

Deno.test("an answer that flips between a redirect's hops stops at the hop", async () => {
  for (const status of [301, 302, 303, 307, 308]) {
    const names = makeNames({ "flip.example": [[PUBLIC], ["10.0.0.7"], [PUBLIC]] });
    const exchange = makeUpAnswers(() => ({ status, headers: [["location", "/again"]] }));
    const service = makeInService({ resolver: names, exchange });
    const origin = "http://flip.example";
    const got = await service.ask({ url: `${origin}/`, allow: allowed(origin) });
    match(got.stopped?.why ?? "", /private/);
    equal(exchange.sent.length, 1);
    equal(names.asked.length, 2);
  }
});

Deno.test("on the wire, the connection goes to the vetted address, with the name as host", async () => {
  await using site = startSite(({ target }) =>
    target === "/" ? redirect(302, "/there") : reply(200, {}, "there")
  );
  const names = makeNames({ "inner.example": [["127.0.0.1"], ["127.0.0.1"], ["127.0.0.9"]] });
  const service = makeInService({ resolver: names });
  const origin = `http://inner.example:${site.port}`;
  const got = await service.ask({ url: `${origin}/`, allow: named(origin) });
  equal(textOf(got), "there");
  equal(got.url, `${origin}/there`);
  deepEqual(got.hops.map(({ address }) => address), ["127.0.0.1", "127.0.0.1"]);
  deepEqual(site.seen.map(({ headers }) => headers["host"]), [
    `inner.example:${site.port}`,
    `inner.example:${site.port}`,
  ]);
  equal(names.asked.length, 2);
});

Deno.test("an address where nothing answers gives way to the next one, all of them vetted", async () => {
  await using site = startSite(() => reply(200, {}, "second"));
  const names = makeNames({ "two.example": [["127.0.0.1", "127.0.0.2"]] });
  const origin = `http://two.example:${site.port}`;
  // The site listens on 127.0.0.1 alone: the order of the list decides.
  const other = makeNames({ "two.example": [["127.0.0.2", "127.0.0.1"]] });
  for (const resolver of [names, other]) {
    const got = await makeInService({ resolver }).ask({ url: `${origin}/`, allow: named(origin) });
    deepEqual(got.hops.map(({ address }) => address), ["127.0.0.1"]);
  }
});

Deno.test("a request that was sent is not sent again to another address", async () => {
  await using site = startSite(() => () => Promise.resolve());
  const resolver = makeNames({ "two.example": [["127.0.0.1", "127.0.0.1"]] });
  const origin = `http://two.example:${site.port}`;
  const service = makeInService({ resolver });
  await rejects(
    service.ask({ url: `${origin}/`, method: "POST", body: "once", allow: named(origin) }),
    isFault("upstream"),
  );
  equal(site.seen.length, 1);
});

Deno.test("a name is never connected to, only an address", () => {
  const { signal } = new AbortController();
  const url = new URL("http://localhost/");
  throws(
    () => makeExchange().send({ method: "GET", url, address: "localhost", headers: {} }, signal),
    TypeError,
  );
});

Deno.test("a name that led to the web when it was named leads to no address of this machine or its network since", async () => {
  for (
    const [address, words] of [["127.0.0.1", "loopback"], ["10.0.0.7", "private"], [
      "::1",
      "loopback",
    ]]
  ) {
    const names = makeNames({ "far.example": [[address ?? ""]] });
    const exchange = makeUpAnswers(() => ({ status: 200, body: "inside" }));
    const service = makeInService({ resolver: names, exchange });
    const origin = "http://far.example";
    const allow = named(origin).map((each) => ({ ...each, was: "public" as const }));
    await rejects(
      service.ask({ url: `${origin}/`, allow }),
      isFault("refused", `${words} address, and led to public ones when it was named`),
    );
    deepEqual(exchange.sent, []);
    await service.ask({ url: `${origin}/`, allow: named(origin) });
    equal(exchange.sent.length, 1);
  }
});
