/** Mallory's spellings of what she may not reach, typed in and hidden behind every kind of redirect. */
import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { Fault } from "../contracts/base/fault.ts";
import { allowed, makeInService, makeNames, makeUpAnswers, textOf } from "./_fixture/parts.ts";

const SITE = "http://start.example";
const RELAY = "http://relay.example";
const PUBLIC = "93.184.216.34";

/** Names of public DNS that lead inside, as those of nip.io and the like do. */
const INSIDE: Readonly<Record<string, readonly string[]>> = {
  "127.0.0.1.nip.io": ["127.0.0.1"],
  "10-0-0-1.nip.io": ["10.0.0.1"],
  "169.254.169.254.nip.io": ["169.254.169.254"],
  "a9fea9fe.nip.io": ["169.254.169.254"],
  "localtest.me": ["127.0.0.1", "::1"],
  "v6.localtest.me": ["::1"],
  "mapped.example": ["::ffff:127.0.0.1"],
  "mapped-hex.example": ["::ffff:7f00:1"],
  "compatible.example": ["::127.0.0.1"],
  "nat64.example": ["64:ff9b::7f00:1"],
  "local-nat64.example": ["64:ff9b:1::a00:1"],
  "6to4.example": ["2002:7f00:1::1"],
  "teredo.example": ["2001:0:7f00:1::1"],
  "isatap.example": ["2a00:1450::5efe:7f00:1"],
  "zone.example": ["fe80::1%eth0"],
  "zoned-public.example": ["2606:4700::1%lo"],
  "short.example": ["127.1"],
  "decimal.example": ["2130706433"],
  "octal.example": ["0177.0.0.1"],
  "mixed.example": [PUBLIC, "10.0.0.1"],
  "mixed-last.example": [PUBLIC, "2606:4700::1", "fd00::1"],
  "metadata.google.internal": ["169.254.169.254"],
  "ecs.example": ["169.254.170.2"],
  "aws6.example": ["fd00:ec2::254"],
  "alibaba.example": ["100.100.100.200"],
  "azure.example": ["168.63.129.16"],
  "carrier.example": ["100.64.0.1"],
  "zero.example": ["0.0.0.0"],
  "unspecified6.example": ["::"],
  "broadcast.example": ["255.255.255.255"],
  "multicast.example": ["224.0.0.251"],
  "multicast6.example": ["ff02::1"],
  "reserved.example": ["240.0.0.1"],
  "benchmark.example": ["198.18.0.1"],
  "ula.example": ["fc00::1"],
  "sitelocal.example": ["fec0::1"],
  "empty.example": [],
  "xn--inside-9ja.example": ["192.168.1.1"],
};

const SPELLINGS: readonly string[] = [
  // IPv4: whole, decimal, octal, hex, short, padded, mixed.
  ...["127.0.0.1", "127.0.0.2", "127.255.255.254", "2130706433", "017700000001", "0x7f000001"],
  ...["0x7f.0x0.0x0.0x1", "0177.0.0.1", "0177.0.0.01", "127.1", "127.0.1", "0x7f.1", "0X7F.1"],
  ...["00000177.0.0.1", "127.00.00.01", "0", "0.0.0.0", "0x0", "10.0.0.1", "10.1", "0xa000001"],
  ...["172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.1", "3232235521", "100.64.0.1"],
  ...["169.254.169.254", "2852039166", "0xa9fea9fe", "0xA9.0xFE.0xA9.0xFE", "0251.0376.0251.0376"],
  ...["169.254.43518", "169.16689662", "169.254.170.2", "100.100.100.200", "168.63.129.16"],
  ...["192.0.0.192", "192.0.2.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"],
  // With a dot behind, percent-encoded, in other scripts.
  ...["127.0.0.1.", "127.1.", "localhost.", "169.254.169.254.", "%31%32%37.0.0.1", "127.0.0.%31"],
  ...["127%2e0%2e0%2e1", "loc%61lhost", "127。0。0。1", "127．0．0．1", "127｡0｡0｡1", "①②⑦.0.0.1"],
  ...["１２７.0.0.1", "ⓛocalhost", "ｌｏｃａｌｈｏｓｔ", "loc\u00adalhost", "①⑥⑨.②⑤④.①⑥⑨.②⑤④"],
  // IPv6.
  ...[
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[0000::0001]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
  ],
  ...["[0:0:0:0:0:ffff:127.0.0.1]", "[::FFFF:169.254.169.254]", "[::127.0.0.1]", "[::7f00:1]"],
  ...["[::ffff:0:127.0.0.1]", "[64:ff9b::127.0.0.1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::a00:1]"],
  ...["[2002:7f00:1::]", "[2001:0:7f00:1::]", "[fe80::1]", "[fe80::1%25eth0]", "[fe80::1%eth0]"],
  ...["[fec0::1]", "[fc00::1]", "[fd00:ec2::254]", "[fd20:ce::254]", "[ff02::1]", "[100::1]"],
  ...["[2a00:1450::5efe:127.0.0.1]", "[4000::1]", "[::ffff:0x7f.1]"],
  // localhost by name.
  ...["localhost", "LOCALHOST", "a.localhost", "localhost.localhost", "x.y.LocalHost."],
  ...Object.keys(INSIDE),
].map((host) => `http://${host}/`);

const TRICKS: readonly string[] = [
  "http://start.example@127.0.0.1/",
  "http://start.example:80@127.0.0.1/",
  "http://127.0.0.1#@start.example/",
  "http://127.0.0.1\\@start.example/",
  "http://start.example\\@127.0.0.1/",
  "http://127.0.0.1?@start.example/",
  "http://127.0.0.1:80/",
  "http://127.0.0.1:8080/",
  "http://localhost:6379/",
  "http:127.0.0.1",
  "http:/127.0.0.1/",
  "http:///127.0.0.1/",
  "http:\\\\127.0.0.1\\",
  "http://\t127.0.0.1/",
  "http://127.0.\n0.1/",
  " http://127.0.0.1/",
  "http://127.0.0.1 /",
  "HTTP://127.0.0.1/",
  "hTTp://LocalHost/",
  "file:///etc/passwd",
  "ftp://127.0.0.1/",
  "gopher://127.0.0.1:6379/_INFO",
  "data:text/html,x",
  "javascript:alert(1)",
  "blob:http://127.0.0.1/x",
  "ws://127.0.0.1/",
  "view-source:http://127.0.0.1/",
  "http://public.example:22/",
  "http://public.example:25/",
  "http://public.example:6667/",
  "http://public.example:0/",
  "http://public.example:1023/",
  "http://sp ace.example/",
  "http://under_..example/",
  "http://-/",
];

/** As a redirect only: without a scheme they mean nothing elsewhere. */
const RELATIVE: readonly string[] = [
  "//127.0.0.1/",
  "///127.0.0.1/",
  "/\\127.0.0.1/",
  "\\\\127.0.0.1\\",
  "//localhost/",
  "//2130706433",
  "//0x7f.1/",
  "//[::1]/",
  "//a@127.0.0.1/",
];

/** Allowed as a person would have allowed it, by what it reads as; never named by the operator. */
function originsOf(spelling: string): readonly string[] {
  const url = URL.parse(spelling, SITE);
  return url === null ? [] : [url.origin];
}

function world(redirects: Readonly<Record<string, readonly [number, string]>> = {}) {
  const names = makeNames({
    ...Object.fromEntries(Object.entries(INSIDE).map(([name, list]) => [name, [list]])),
    "start.example": [[PUBLIC]],
    "relay.example": [["2606:4700::1111"]],
    "public.example": [[PUBLIC]],
  });
  const exchange = makeUpAnswers(({ url }) => {
    const to = redirects[url.href];
    if (to === undefined) return { status: 200, body: "the inside" };
    return { status: to[0], headers: [["location", to[1]]], body: "moved" };
  });
  return { exchange, service: makeInService({ resolver: names, exchange }) };
}

const isRefusal = (error: unknown): boolean =>
  error instanceof Fault && ["refused", "invalidArguments", "notFound"].includes(error.code);

Deno.test("mallory has at least sixty spellings, and a plain address works in the same world", async () => {
  ok(SPELLINGS.length + TRICKS.length >= 60, `${SPELLINGS.length + TRICKS.length}`);
  const { service } = world({ [`${SITE}/`]: [302, `${RELAY}/x`] });
  const got = await service.ask({ url: `${SITE}/`, allow: allowed(SITE, RELAY) });
  equal(got.url, `${RELAY}/x`);
  equal(textOf(got), "the inside");
});

for (const spelling of [...SPELLINGS, ...TRICKS]) {
  Deno.test(`typed in, ${JSON.stringify(spelling)} is refused and nothing connects`, async () => {
    const { exchange, service } = world();
    const allow = allowed(...originsOf(spelling));
    await rejects(service.ask({ url: spelling, allow }), isRefusal);
    deepEqual(exchange.sent, []);
  });
}

Deno.test("written as they are read, they are refused for where they lead", async () => {
  const read = SPELLINGS.flatMap((each) => URL.parse(each)?.href ?? []);
  ok(read.length >= 100, `${read.length}`);
  for (const url of read) {
    const { exchange, service } = world();
    const work = service.ask({ url, allow: allowed(...originsOf(url)) });
    await rejects(work, /leads to|has no address|does not read as one/, url);
    deepEqual(exchange.sent, []);
  }
});

for (const status of [301, 302, 303, 307, 308]) {
  Deno.test(`behind a ${status}, none of mallory's spellings is followed`, async () => {
    for (const spelling of [...SPELLINGS, ...TRICKS, ...RELATIVE]) {
      const { exchange, service } = world({ [`${SITE}/`]: [status, spelling] });
      const allow = allowed(SITE, ...originsOf(spelling));
      await refusedOrStopped(service.ask({ url: `${SITE}/`, allow }), spelling);
      deepEqual(exchange.sent.map(({ url }) => url.href), [`${SITE}/`], spelling);
    }
  });

  Deno.test(`at the end of a chain of ${status}, none of mallory's spellings is followed`, async () => {
    for (const spelling of [...SPELLINGS, ...TRICKS, ...RELATIVE]) {
      const { exchange, service } = world({
        [`${SITE}/`]: [status, "/again"],
        [`${SITE}/again`]: [status, `${RELAY}/`],
        [`${RELAY}/`]: [status, spelling],
      });
      const allow = allowed(SITE, RELAY, ...originsOf(spelling));
      await refusedOrStopped(service.ask({ url: `${SITE}/`, allow }), spelling);
      const hosts = exchange.sent.map(({ url }) => url.host);
      deepEqual(hosts, ["start.example", "start.example", "relay.example"], spelling);
    }
  });
}

/** Stopped with a word why; a name without any address is a fault also as a hop. */
async function refusedOrStopped(work: ReturnType<typeof fetchOf>, spelling: string): Promise<void> {
  try {
    const answer = await work;
    ok(answer.stopped !== undefined, `${spelling} was followed to ${answer.url}`);
    equal(textOf(answer), "moved");
  } catch (error) {
    ok(isRefusal(error), `${spelling}: ${error}`);
  }
}
const fetchOf = (url: string) => world().service.ask({ url });

Deno.test("a redirect to an origin that was not allowed resolves no name", async () => {
  const names = makeNames({ "start.example": [[PUBLIC]] });
  const exchange = makeUpAnswers(() => ({
    status: 302,
    headers: [["location", "http://c2VjcmV0.mallory.example/"]],
  }));
  const service = makeInService({ resolver: names, exchange });
  const got = await service.ask({ url: `${SITE}/`, allow: allowed(SITE) });
  ok(got.stopped?.why.includes("not allowed"));
  deepEqual(names.asked, ["start.example"]);
});

Deno.test("an origin that was named reaches loopback and private, but metadata only by its address", async () => {
  const { service, exchange } = world();
  const ask = (origin: string) =>
    service.ask({ url: `${origin}/`, allow: [{ origin, named: true }] });
  for (const origin of ["http://localhost:6379", "http://10.0.0.1", "http://localtest.me:22"]) {
    equal((await ask(origin)).status, 200);
  }
  equal((await ask("http://169.254.169.254")).hops[0]?.address, "169.254.169.254");
  equal((await ask("http://[fd00:ec2::254]")).hops[0]?.address, "fd00:ec2::254");
  const before = exchange.sent.length;
  const never = ["http://metadata.google.internal", "http://ecs.example", "http://mapped.example"];
  const nobody = ["http://0.0.0.0", "http://[::]", "http://224.0.0.1", "http://255.255.255.255"];
  for (const origin of [...never, ...nobody, "http://zone.example"]) {
    await rejects(ask(origin), isRefusal, origin);
  }
  equal(exchange.sent.length, before);
});
