import assert from "node:assert/strict";
import { Fault } from "../../../contracts/base/mod.ts";
import type { JsonObject } from "../../../contracts/base/json.ts";
import { BrowserProfiles } from "../../../contracts/policy/browser_profile.ts";
import type { ProcessRow } from "../../../contracts/task/process.ts";
import type { ClaimOutcome } from "../../../contracts/task/resources.ts";
import { openProfiles } from "./profiles.ts";

const SHOP = "https://shop.example.org", DAY = 86_400_000;
const ENTRY = { agent: "shopper", origins: [SHOP], days: 2 };
const WWW = "https://www.site.example", ACCOUNT = "https://account.site.example";
const SITE = { ...ENTRY, origins: ["https://site.example", WWW, ACCOUNT] };
const BANK = { ...ENTRY, origins: ["https://bank.example"] };
const ROW = {
  ...{ pid: 1, ppid: undefined, profile: "operator", principal: "alice", spec: "shopper" },
} as unknown as ProcessRow;

const APART = { ...ENTRY, origins: ["https://www.apart.example", "https://account.apart.example"] };
const BANK_GRANT = { ...BANK, name: "bank" };

/** A kernel's profiles over a disk in memory, with a clock that the test turns. */
async function rig(files = new Map<string, string>()) {
  const timers: { at: number; f: () => void }[] = [];
  const events: JsonObject[] = [];
  const clock = { now: 1_000 * DAY };
  const disk = {
    slow: undefined as Promise<void> | undefined,
    makeDir: () => Promise.resolve(),
    list: () => Promise.resolve([...files.keys()].map((path) => path.slice("/p/".length))),
    read: (path: string) => Promise.resolve(new TextEncoder().encode(files.get(path) ?? "")),
    async write(path: string, bytes: Uint8Array) {
      await disk.slow;
      files.set(path, new TextDecoder().decode(bytes));
    },
    broken: false,
    remove: (path: string) =>
      disk.broken
        ? Promise.reject(new Error("read-only"))
        : Promise.resolve(void files.delete(path)),
  };
  const profiles = await openProfiles({
    ...{
      configured: BrowserProfiles.parse({ shop: ENTRY, bank: BANK, site: SITE, apart: APART }),
      dir: "/p",
      disk,
      kernelKey: "k",
    },
    powers: {
      now: () => clock.now,
      after(ms, f) {
        const timer = { at: clock.now + ms, f };
        timers.push(timer);
        return () => void timers.splice(timers.indexOf(timer), timers.includes(timer) ? 1 : 0);
      },
      reach: () => undefined,
    },
    log: {
      append: (_chain, given) => {
        events.push(...given.map(({ body }) => body));
        return Promise.resolve([]);
      },
    },
    signed: (_claim, signature) => signature.startsWith("s"),
    claim: () =>
      Promise.resolve({ kind: "held", lease: { id: "r000000000001" } } as unknown as ClaimOutcome),
    release: () => Promise.reject(new Fault("notFound", "it expired")),
    note: () => undefined,
  });
  const approve = (changes: object = {}) =>
    profiles.ask({
      do: "approve",
      grant: {
        ...{ ...ENTRY, name: "shop", approvedAt: clock.now, expiresAt: clock.now + 2 * DAY },
        ...changes,
      } as never,
      signature: "s".repeat(86),
    });
  /** Turns the clock, and lets come what is due. */
  const turn = async (to: number): Promise<void> => {
    clock.now = to;
    for (const each of timers.splice(0)) {
      if (each.at <= to) each.f();
      else timers.push(each);
    }
    for (let n = 0; n < 20; n += 1) await Promise.resolve();
  };
  return { profiles, files, events, clock, disk, approve, turn };
}

Deno.test("an approved profile goes along with the agent's own task alone, and with no stranger's", async () => {
  const { profiles, approve } = await rig();
  assert.equal(profiles.seen(ROW, SHOP)?.why, "not approved");
  assert.equal(await profiles.begin(ROW, `${SHOP}/`), undefined);
  await approve();
  assert.equal(profiles.seen(ROW, SHOP)?.why, undefined);
  assert.notEqual(await profiles.begin(ROW, `${SHOP}/`), undefined);
  for (
    const other of [
      ...[{ spec: "reader" }, { ppid: 7 }, { profile: "guest" }, { principal: "peer:mallory" }],
      ...[{ principal: "webhook:mallory" }, { principal: "token-mallory" }],
      ...[{ principal: "mail:mallory" }, { principal: "swarm:sw0" }, { principal: "world:w" }],
      ...[{ principal: "mcp:0123456789ab" }, { principal: "mcp:host2" }],
    ]
  ) {
    const row = { ...ROW, ...other } as unknown as ProcessRow;
    assert.equal(profiles.seen(row, SHOP), undefined, JSON.stringify(other));
    assert.equal(await profiles.begin(row, `${SHOP}/`), undefined);
  }
  for (const origin of ["http://shop.example.org", "https://example.org", `${SHOP}:8443`]) {
    assert.equal(profiles.seen(ROW, origin), undefined, origin);
  }
  // A host at the person's own terminal, over a pipe.
  const own = { ...ROW, principal: "mcp:host" } as unknown as ProcessRow;
  assert.equal(profiles.seen(own, SHOP)?.name, "shop");
  // What it claimed may have ended by itself.
  await profiles.closed(ROW);
});

Deno.test("at its end a profile is emptied although nobody asks, and a call under way gets nothing more", async () => {
  const { profiles, approve, turn, files, events, clock } = await rig();
  await approve();
  const use = await profiles.begin(ROW, `${SHOP}/`);
  await use?.keep(`${SHOP}/`, ["sid=value-of-alice"]);
  assert.equal(use?.cookies({ url: `${SHOP}/x`, method: "GET" }), "sid=value-of-alice");
  assert.match(files.get("/p/shop.json") ?? "", /value-of-alice/);
  const end = clock.now + 2 * DAY;
  await turn(end - 1);
  assert.match(files.get("/p/shop.json") ?? "", /value-of-alice/);
  for (let to = end; to < end + 3 * 3_600_000; to += 3_600_000) await turn(to);
  assert.doesNotMatch(files.get("/p/shop.json") ?? "", /value-of-alice/);
  assert.deepEqual(events.at(-1), { what: "expired", name: "shop", cookies: 1 });
  assert.throws(
    () => use?.cookies({ url: `${SHOP}/x`, method: "GET" }),
    /it is expired|taken back/,
  );
});

Deno.test("a page comes only once its cookie is on disk, and of two at once both stay", async () => {
  const { profiles, approve, files, disk } = await rig();
  await approve();
  const use = await profiles.begin(ROW, `${SHOP}/`);
  const gate = Promise.withResolvers<void>();
  disk.slow = gate.promise;
  let came = 0;
  const both = ["a=1", "b=2"].map((line) => use?.keep(`${SHOP}/`, [line]).then(() => came += 1));
  for (let n = 0; n < 20; n += 1) await Promise.resolve();
  assert.equal(came, 0);
  gate.resolve();
  await Promise.all(both);
  const kept = JSON.parse(files.get("/p/shop.json") ?? "{}");
  assert.deepEqual(kept.cookies.map(({ name }: { name: string }) => name), ["a", "b"]);
});

Deno.test("a site fills its jar and no more: the oldest cookies go", async () => {
  const { profiles, approve, files } = await rig();
  await approve();
  const use = await profiles.begin(ROW, `${SHOP}/`);
  for (let n = 0; n < 10; n += 1) {
    await use?.keep(`${SHOP}/`, Array.from({ length: 100 }, (_, m) => `c${n}-${m}=1`));
  }
  const { cookies } = JSON.parse(files.get("/p/shop.json") ?? "{}");
  assert.equal(cookies.length, 256);
  assert.equal(cookies.at(-1).name, "c9-63", "64 lines of an answer are read");
});

Deno.test("what is damaged, unsigned or half written is nothing, and stops nobody", async () => {
  const first = await rig();
  await first.approve();
  const whole = first.files.get("/p/shop.json") ?? "";
  for (
    const text of ["", "{", whole.replace(/"s{86}"/, `"${"x".repeat(86)}"`), whole.slice(0, -9)]
  ) {
    const { profiles } = await rig(new Map([["/p/shop.json", text]]));
    assert.equal(profiles.seen(ROW, SHOP)?.why, "not approved");
  }
  const { profiles, files } = await rig(
    new Map([["/p/shop.json", whole], ["/p/shop.json.0123456789ab", "{"]]),
  );
  assert.equal(profiles.seen(ROW, SHOP)?.why, undefined);
  assert.deepEqual([...files.keys()], ["/p/shop.json"]);
});

Deno.test("what is forgotten while the disk fails is of no use, and is forgotten again until its file is gone", async () => {
  const { profiles, approve, files, disk } = await rig();
  await approve();
  const forget = () => profiles.ask({ do: "forget", name: "shop" as never });
  disk.broken = true;
  for (let n = 0; n < 2; n += 1) await assert.rejects(forget(), /read-only/);
  assert.equal(profiles.seen(ROW, SHOP)?.why, "not approved");
  assert.equal(files.size, 1);
  disk.broken = false;
  assert.deepEqual(await forget(), { cookies: 0 });
  assert.equal(files.size, 0);
  await assert.rejects(forget(), { code: "notFound" });
});

Deno.test("what is approved anew while another profile is emptied stays as it was approved", async () => {
  const { profiles, approve, clock, disk, turn } = await rig();
  const use = async (url: string) => await profiles.begin(ROW, url);
  await approve(BANK_GRANT);
  await approve();
  await (await use(BANK.origins[0] ?? ""))?.keep("https://bank.example/", ["sid=1"]);
  await (await use(SHOP))?.keep(`${SHOP}/`, ["sid=value-of-alice"]);
  const gate = Promise.withResolvers<void>();
  disk.slow = gate.promise;
  await turn(clock.now + 2 * DAY + 1);
  const approved = approve();
  gate.resolve();
  await approved;
  for (let n = 0; n < 20; n += 1) await Promise.resolve();
  assert.equal(profiles.seen(ROW, SHOP)?.why, undefined);
  assert.equal(
    (await use(SHOP))?.cookies({ url: `${SHOP}/`, method: "GET" }),
    "sid=value-of-alice",
  );
});

const EVIL = "https://evil.example";

/** Profiles with one cookie of each kind; `names` tells which go with a request. */
async function withKinds() {
  const { profiles, approve } = await rig();
  await approve();
  const kinds = ["strict", "lax", "none"] as const;
  await profiles.ask({
    ...{ do: "import", name: "shop" as never },
    cookies: kinds.map((sameSite) => ({
      ...{ origin: SHOP, shared: false, name: sameSite, value: "v", path: "/", secure: true },
      ...{ httpOnly: true, sameSite, createdAt: 0 },
    })),
  });
  const begin = async (path: string) => {
    const use = await profiles.begin(ROW, `${SHOP}${path}`);
    if (use === undefined) throw new Error("no profile goes along");
    return {
      names: (to: string, method = "GET") =>
        use.cookies({ url: `${SHOP}${to}`, method }).replaceAll("=v", ""),
      keep: (of: string, next?: string) =>
        use.keep(`${SHOP}${of}`, [], ...(next === undefined ? [] : [`${SHOP}${next}`])),
    };
  };
  return { profiles, begin };
}

Deno.test("a page of mallory's stays a stranger for the whole call, whatever its scripts fetch", async () => {
  const { profiles, begin } = await withKinds();
  await profiles.begin(ROW, `${EVIL}/`);
  profiles.turned(ROW, { asked: EVIL, shown: EVIL });
  const { names, keep } = await begin("/prize");
  assert.equal(names("/prize"), "lax; none");
  await keep("/prize");
  assert.equal(names("/delete?id=1"), "none");
  assert.equal(names("/prize", "POST"), "none");
  profiles.turned(ROW, { asked: SHOP, shown: SHOP });
  assert.equal((await begin("/within")).names("/within", "POST"), "strict; lax; none");
});

Deno.test("what a download or a failed call fetched does not say which page is open", async () => {
  const { profiles, begin } = await withKinds();
  await profiles.begin(ROW, `${EVIL}/`);
  profiles.turned(ROW, { asked: EVIL, shown: EVIL });
  const { keep } = await begin("/robots.txt");
  await keep("/robots.txt");
  profiles.turned(ROW, { asked: SHOP });
  assert.equal((await begin("/pay")).names("/pay", "POST"), "none");
  // Of the shop's own page neither changes anything.
  profiles.turned(ROW, { asked: SHOP, shown: SHOP });
  await (await begin("/robots.txt")).keep("/robots.txt");
  profiles.turned(ROW, { asked: SHOP });
  assert.equal((await begin("/pay")).names("/pay", "POST"), "strict; lax; none");
});

Deno.test("a call that fails on its way to mallory may have opened his page", async () => {
  const { profiles, begin } = await withKinds();
  profiles.turned(ROW, { asked: SHOP, shown: SHOP });
  const first = await begin("/a");
  assert.equal(first.names("/a"), "strict; lax; none");
  // Also for a call that began before.
  await profiles.begin(ROW, `${EVIL}/`);
  assert.equal(first.names("/b"), "none");
  profiles.turned(ROW, { asked: EVIL });
  assert.equal((await begin("/pay")).names("/pay", "POST"), "none");
});

Deno.test("a redirect stays as cross-site as the request that it answers, and a repeated POST carries nothing more", async () => {
  const { profiles, begin } = await withKinds();
  await profiles.begin(ROW, `${EVIL}/`);
  profiles.turned(ROW, { asked: EVIL, shown: EVIL });
  const { names, keep } = await begin("/transfer");
  assert.equal(names("/transfer", "POST"), "none");
  await keep("/transfer", "/transfer/");
  assert.equal(names("/transfer/", "POST"), "none");
  assert.equal(names("/transfer/"), "lax; none", "a page that the call leads to");
  await keep("/script", "/elsewhere");
  assert.equal(names("/elsewhere"), "none");
});

Deno.test("what was withheld from a request is not replaced by what the site then sets", async () => {
  const { profiles } = await withKinds();
  profiles.turned(ROW, { asked: SHOP, shown: SHOP });
  // It fails, and the shop's page is still open.
  await profiles.begin(ROW, `${EVIL}/`);
  profiles.turned(ROW, { asked: EVIL });
  const use = await profiles.begin(ROW, `${SHOP}/orders`);
  const orders = { url: `${SHOP}/orders`, method: "GET" };
  assert.equal(use?.cookies(orders), "lax=v; none=v");
  await use?.keep(`${SHOP}/orders`, [
    "strict=anonymous; Path=/; Secure; HttpOnly; SameSite=Strict",
    "lax=new; Path=/; Secure",
  ]);
  profiles.turned(ROW, { asked: SHOP, shown: SHOP });
  const next = await profiles.begin(ROW, `${SHOP}/orders`);
  assert.equal(next?.cookies(orders), "strict=v; none=v; lax=new");
  // A POST of a stranger's page lacks the lax one, too.
  await profiles.begin(ROW, `${EVIL}/`);
  const sent = await profiles.begin(ROW, `${SHOP}/pay`);
  assert.equal(sent?.cookies({ url: `${SHOP}/pay`, method: "POST" }), "none=v");
  await sent?.keep(`${SHOP}/pay`, ["lax=gone; Path=/; Secure; Max-Age=0"]);
  profiles.turned(ROW, { asked: SHOP, shown: SHOP });
  assert.equal(
    (await profiles.begin(ROW, `${SHOP}/orders`))?.cookies(orders),
    "strict=v; none=v; lax=new",
  );
});

Deno.test("a download elsewhere leaves the shop's page open", async () => {
  const { profiles, begin } = await withKinds();
  profiles.turned(ROW, { asked: SHOP, shown: SHOP });
  await profiles.begin(ROW, `${EVIL}/invoice.csv`, { opensPage: false });
  assert.equal((await begin("/orders")).names("/orders"), "strict; lax; none");
});

Deno.test("a step between hosts of a profile is within one site where the profile names the host above", async () => {
  const { profiles, approve } = await rig();
  await approve({ ...SITE, name: "site" });
  await approve({ ...APART, name: "apart" });
  for (
    const [from, to = "", expected] of [
      [WWW, ACCOUNT, "sid=v"],
      ["https://site.example", ACCOUNT, "sid=v"],
      [...APART.origins, ""],
      [WWW, APART.origins[0], ""],
    ]
  ) {
    profiles.turned(ROW, { asked: to, shown: to });
    const line = "sid=v; Path=/; Secure; SameSite=Strict";
    await (await profiles.begin(ROW, `${to}/`))?.keep(`${to}/`, [line]);
    profiles.turned(ROW, { asked: from ?? "", shown: from ?? "" });
    const use = await profiles.begin(ROW, `${to}/`);
    assert.equal(use?.cookies({ url: `${to}/`, method: "GET" }), expected, `${from} to ${to}`);
  }
});

Deno.test("a cookie that holds an address does not blind the site; one that may be a token is hidden", async () => {
  const { profiles, approve } = await rig();
  await approve();
  const use = await profiles.begin(ROW, `${SHOP}/`);
  const addresses = [
    ...[
      SHOP,
      `${SHOP}/`,
      encodeURIComponent(`${SHOP}/`),
      `"${SHOP}/orders"`,
      "%2Faccount%2Forders",
    ],
    ...["/products/long-winter-coat-for-women.html"],
  ];
  await use?.keep(`${SHOP}/`, addresses.map((value, n) => `a${n}=${value}`));
  assert.deepEqual(use?.hidden(), []);
  const tokens = [
    ...["/9j4AAQSkZJRgABAQAAAQABAAD", "/abcd/efgh+ijk", "/abcdefg=", `${SHOP}/?token=1`],
    ...["//9j4AAQSkZJRgABAQAAAQABAAD", `${SHOP}/reset/9j4AAQSkZJRgABAQAAAQABAAD`, "abcdefgh"],
    "https://alice:secret@shop.example.org/",
  ];
  await use?.keep(`${SHOP}/`, tokens.map((value, n) => `t${n}=${value}`));
  assert.deepEqual(use?.hidden().map(({ value }) => value), tokens);
});
