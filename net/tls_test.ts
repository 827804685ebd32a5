import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { makeCertificate } from "./_fixture/certificate.ts";
import { isFault, makeInService, makeNames, named, textOf } from "./_fixture/parts.ts";
import { redirect, reply, startSite } from "./_fixture/site.ts";
import { makeExchange } from "./exchange_powers.ts";

const resolver = makeNames({ "inner.example": [["127.0.0.1"]], "other.example": [["127.0.0.1"]] });

Deno.test("a pinned connection checks the certificate against the name, not the address", async () => {
  const tls = await makeCertificate(["inner.example"]);
  await using site = startSite(() => reply(200, {}, "secure"), { tls });
  const service = makeInService({ resolver, exchange: makeExchange({ roots: [tls.cert] }) });
  const ask = (host: string) => {
    const origin = `https://${host}:${site.port}`;
    return service.ask({ url: `${origin}/`, allow: named(origin) });
  };
  const got = await ask("inner.example");
  equal(textOf(got), "secure");
  equal(got.hops[0]?.address, "127.0.0.1");
  equal(site.seen[0]?.headers["host"], `inner.example:${site.port}`);
  await rejects(ask("other.example"), isFault("unavailable", "certificate"));
  await rejects(ask("127.0.0.1"), isFault("unavailable", "certificate"));
  equal(site.seen.length, 1);
});

Deno.test("an address in an https origin must stand in the certificate", async () => {
  const tls = await makeCertificate(["127.0.0.1"]);
  await using site = startSite(() => reply(200, {}, "secure"), { tls });
  const service = makeInService({ resolver, exchange: makeExchange({ roots: [tls.cert] }) });
  const got = await service.ask({ url: `${site.origin}/`, allow: named(site.origin) });
  equal(textOf(got), "secure");
});

Deno.test("mallory's own certificate, and one that is over, are not trusted", async () => {
  const own = await makeCertificate(["inner.example"]);
  const old = await makeCertificate(["inner.example"], { from: -9, to: -2 });
  for (
    const [tls, exchange] of [
      [own, makeExchange()],
      [own, makeExchange({ roots: [old.cert] })],
      [old, makeExchange({ roots: [old.cert] })],
    ] as const
  ) {
    await using site = startSite(() => reply(200, {}, "secure"), { tls });
    const origin = `https://inner.example:${site.port}`;
    await rejects(
      makeInService({ resolver, exchange }).ask({ url: `${origin}/`, allow: named(origin) }),
      isFault("unavailable", "certificate"),
    );
    deepEqual(site.seen, []);
  }
});

Deno.test("from https a redirect to http is not followed, though it is allowed", async () => {
  const tls = await makeCertificate(["inner.example"]);
  await using plain = startSite(() => reply(200, {}, "plain"));
  await using site = startSite(() => redirect(302, `${plain.origin}/`), { tls });
  const service = makeInService({ resolver, exchange: makeExchange({ roots: [tls.cert] }) });
  const origin = `https://inner.example:${site.port}`;
  const got = await service.ask({ url: `${origin}/`, allow: named(origin, plain.origin) });
  match(got.stopped?.why ?? "", /from https to http/);
  deepEqual(plain.seen, []);
});

Deno.test("a secure request to a site that is not secure is unavailable", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    using connection = await listener.accept();
    await connection.write(new TextEncoder().encode("220 mail.example ESMTP\r\n"));
  })();
  const origin = `https://127.0.0.1:${listener.addr.port}`;
  await rejects(
    makeInService().ask({ url: `${origin}/`, allow: named(origin) }),
    isFault("unavailable"),
  );
  await serving;
});
