/** alice lets one agent act where she is signed in: she approves it, and it reads behind the login, also tomorrow. */
import assert from "node:assert/strict";
import { type Machine, onMachine } from "../fake/remit.ts";
import { playing } from "../fake/scenes.ts";
import { openTerminal } from "../fake/terminal.ts";
import { needs } from "../needs.ts";

const SESSION = "s3ss10n-of-alice-0123456789";

interface Shop {
  readonly origin: string;
  /** Method, path, and the cookies that came along. */
  readonly seen: string[];
}

/** A shop with a login; each page behind it counts the visit in a cookie of its own. */
async function withShop(f: (shop: Shop) => Promise<void>): Promise<void> {
  const seen: string[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => undefined },
    (request) => {
      const { pathname } = new URL(request.url);
      const cookies = request.headers.get("cookie") ?? "";
      seen.push(`${request.method} ${pathname} ${cookies}`.trim());
      if (pathname === "/login") return page("<h1>Please log in</h1>");
      if (!cookies.includes(`sid=${SESSION}`)) {
        return new Response(null, { status: 302, headers: { location: "/login" } });
      }
      const visits = Number(/visits=(\d+)/.exec(cookies)?.[1] ?? 0) + 1;
      return page(`<h1>Orders of alice</h1><p>visit ${visits}, by ${SESSION}</p>`, {
        "set-cookie": `visits=${visits}; Path=/; HttpOnly`,
      });
    },
  );
  const { port } = server.addr;
  try {
    await f({ origin: `http://127.0.0.1:${port}`, seen });
  } finally {
    await server.shutdown();
  }
}

function page(body: string, headers: Record<string, string> = {}): Response {
  return new Response(`<html><body>${body}</body></html>`, {
    headers: { "content-type": "text/html", ...headers },
  });
}

async function settle(machine: Machine, origin: string): Promise<void> {
  const folder = `${machine.env["XDG_CONFIG_HOME"]}/remit`;
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(
    `${folder}/remit.yaml`,
    `version: 1
agents:
  shopper: { persona: You look after orders. }
  reader: { persona: You read. }
browser:
  engine: static
  profiles:
    shop: { agent: shopper, origins: ["${origin}"], days: 30 }
rules:
  - { tool: "browser_*", destination: "${origin}", mode: consent }
`,
  );
  await machine.write(
    "cookies.txt",
    [
      "# Netscape HTTP Cookie File",
      `#HttpOnly_127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\t${SESSION}`,
      ".mail.example.org\tTRUE\t/\tTRUE\t0\tmail\tnobody-elses-business",
      "",
    ].join("\n"),
  );
}

const looks = (origin: string): string => `
scenario: looks at the orders
turns:
  - calls: [{ tool: browser_open, args: { url: "${origin}/orders" } }]
  - say: "I saw: {{ tool.browser_open }}"
`;

/** Runs at a terminal, where alice says yes to each question; gives the whole screen. */
async function atTerminal(
  machine: Machine,
  words: readonly string[],
  yes: number,
): Promise<string> {
  const run = openTerminal(machine.command(words), { env: machine.env, cwd: machine.dir });
  try {
    for (let n = 1; n <= yes; n += 1) {
      await run.shows(/your answer|y\/N ›/, n);
      await run.type("y\r");
    }
    await run.ended();
    return run.screen();
  } finally {
    await run.close();
  }
}

Deno.test("alice approves a profile for one agent, gives it her session, and it reads her orders today and after a restart", async () => {
  if (!needs("script")) return;
  await withShop(async ({ origin, seen }) => {
    await onMachine(async (machine) => {
      await settle(machine, origin);
      const model = await playing(machine, looks(origin));
      const run = (agent: string): Promise<string> =>
        atTerminal(machine, ["run", "--agent", agent, "-p", "Look at the orders", ...model], 1);

      // Before anybody approved it it is nothing.
      const early = await machine.remit(["browser", "import", "shop", "cookies.txt"]);
      assert.match(early.stderr, /nobody approved it/);
      const silent = await machine.remit(["browser", "approve", "shop"]);
      assert.match(silent.stderr, /at a terminal/);
      assert.match(
        await run("shopper"),
        /browser profile "shop" does not go along: it is not approved/,
      );
      assert.deepEqual(seen.splice(0), ["GET /orders", "GET /login"]);

      const shown = await atTerminal(machine, ["browser", "approve", "shop"], 1);
      for (const part of [origin, "shopper", "30 days", "approved shop until"]) {
        assert.ok(shown.includes(part), `${part}: ${shown}`);
      }
      const imported = await machine.remit(["browser", "import", "shop", "cookies.txt"]);
      assert.match(imported.stdout, /imported 1 cookies into shop\nleft out 1 of 1 other hosts/);

      const screen = await run("shopper");
      assert.match(screen, /signed in with your browser\s+profile "shop"/);
      assert.match(screen, /Orders of alice/);
      assert.match(screen, /visit 1, by .{1,12}redacted: secret/);
      assert.ok(!screen.includes(SESSION), screen);
      assert.deepEqual(seen.splice(0), [`GET /orders sid=${SESSION}`]);

      const list = await machine.remit(["browser", "list"]);
      assert.match(list.stdout, /shop +shopper .* 2 +approved/);
      const whole = await machine.remit(["browser", "show", "shop"]);
      assert.match(whole.stdout, /sid .*HttpOnly/);
      assert.match(whole.stdout, /visits .*HttpOnly/);
      assert.ok(!whole.stdout.includes(SESSION));

      // Another agent is nobody there.
      assert.match(await run("reader"), /Please log in/);
      assert.deepEqual(seen.splice(0), ["GET /orders", "GET /login"]);

      await machine.remit(["stop", "--now"]);
      assert.match(await run("shopper"), /visit 2/);
      assert.deepEqual(seen.splice(0), [`GET /orders sid=${SESSION}; visits=1`]);

      const forgot = await machine.remit(["browser", "forget", "shop"]);
      assert.match(forgot.stdout, /forgot shop: its approval and 2 cookies/);
      assert.match(await run("shopper"), /Please log in/);
      const log = await machine.remit(["audit", "verify"]);
      assert.equal(log.code, 0, log.stdout + log.stderr);
    });
  });
});
