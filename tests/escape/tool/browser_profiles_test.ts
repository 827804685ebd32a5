/**
 * Whoever is after a person's session: sites, other agents and tasks, a process that dies, a hand in the files. The
 * cookies are the kernel's and go to the origins of the profile alone; else mallory would act as alice.
 */
import assert from "node:assert/strict";
import type { FailPoint } from "../../../contracts/task/mod.ts";
import { besiege, gone, type Siege } from "../../fake/siege.ts";
import {
  AGENT,
  cookie,
  does,
  html,
  namesKept,
  profiles,
  type Serve,
  SESSION,
  signedGrant,
  signIn,
  type Sites,
  starts,
  withSites,
} from "../../fake/signed_in.ts";
import { granting, realTools } from "../../fake/tools.ts";

const SIGNED_IN = `sid=${SESSION}`;

/** A kernel with the profile, approved and signed in. */
async function onShop(
  serve: { readonly shop?: Serve; readonly evil?: Serve },
  f: (siege: Siege, sites: Sites) => Promise<void>,
): Promise<void> {
  await withSites(serve, async (sites) => {
    const policy = granting([sites.shop, sites.evil]);
    const browser = {
      ...{ engine: "static" as const, program: "/usr/bin/chromium" },
      profiles: profiles(sites),
    };
    await besiege(async (siege) => {
      await signIn(siege, sites);
      await f(siege, sites);
    }, { config: { tools: await realTools(), policy: { ...policy, clearance: {} }, browser } });
  });
}

const open = (url: string): string => `await call("browser_open", { url: "${url}" });`;

Deno.test("the agent is signed in at its origin: RED, internal, from page to page without another word", async () => {
  await onShop({}, async (siege, { shop, seen }) => {
    const [first, second] = await does(siege, open(`${shop}/a`) + open(`${shop}/b`));
    assert.deepEqual([first?.outcome, first?.colour, first?.label], ["ok", "RED", "internal"]);
    assert.equal(second?.outcome, "ok", JSON.stringify(second));
    assert.deepEqual(seen.shop, [`GET /a ${SIGNED_IN}`, `GET /b ${SIGNED_IN}`]);
  });
});

Deno.test("a redirect to another origin is not followed, and that origin gets no cookie when it is opened", async () => {
  const serve: { shop?: Serve } = {};
  await onShop({ shop: (request, url) => serve.shop?.(request, url) }, async (siege, sites) => {
    const { shop, evil, seen } = sites;
    serve.shop = (_, { pathname }) =>
      pathname === "/away"
        ? new Response(null, { status: 302, headers: { location: `${evil}/caught` } })
        : undefined;
    await does(siege, open(`${shop}/away`));
    assert.deepEqual([seen.shop, seen.evil], [[`GET /away ${SIGNED_IN}`], []]);
    const other = { agent: { ...AGENT, name: "reader" } };
    const [direct] = await does(siege, open(`${evil}/caught`), other);
    assert.equal(direct?.outcome, "ok", JSON.stringify(direct));
    assert.deepEqual(seen.evil, ["GET /caught -"]);
  });
});

Deno.test("cookies for foreign and for parent domains are not kept, and a stranger's answer sets none", async () => {
  const lines = [
    "foreign=1; Domain=evil.example",
    ...["parent=1; Domain=0.0.1", "suffix=1; Domain=1", "other=1; Domain=localhost"],
    ...["__Host-a=1; Secure; Path=/", "nameless", "none=1; SameSite=None"],
    "own=1",
  ];
  const set = () => {
    const headers = new Headers({ "content-type": "text/html" });
    for (const line of lines) headers.append("set-cookie", line);
    return new Response("<p>sets what it can</p>", { headers });
  };
  await onShop({ shop: set, evil: set }, async (siege, { shop, evil, seen }) => {
    const other = { agent: { ...AGENT, name: "reader" } };
    for (const path of ["/", "/again"]) await does(siege, open(`${evil}${path}`), other);
    assert.deepEqual(seen.evil, ["GET / -", "GET /again -"]);
    assert.deepEqual(await namesKept(siege), ["sid"]);
    await does(siege, open(`${shop}/`));
    assert.deepEqual(await namesKept(siege), ["own", "sid"]);
  });
});

Deno.test("a server that echoes the session is not heard: no form of the value reaches the agent, or the log", async () => {
  const forms = [
    SESSION,
    encodeURIComponent(SESSION),
    btoa(SESSION).replace(/=+$/, ""),
    JSON.stringify(SESSION).slice(1, -1).replaceAll("/", "\\/"),
  ];
  const echo: Serve = (_request, { pathname }) =>
    pathname === "/moved"
      ? new Response(null, {
        status: 302,
        headers: { location: `/now?was=${encodeURIComponent(SESSION)}` },
      })
      : html(
        `<h1>${forms.join(" ")}</h1><p>${entities(SESSION)}</p><a href="/x?${
          encodeURIComponent(SESSION)
        }">on</a>`,
        {
          "x-echo": SESSION,
          "set-cookie": "fresh=another-value-of-hers-1; HttpOnly",
        },
      );
  await onShop({ shop: echo }, async (siege, { shop }) => {
    const came = await does(siege, open(`${shop}/`) + open(`${shop}/moved`));
    const told = JSON.stringify(came);
    assert.equal(came[0]?.outcome, "ok", told);
    assert.match(told, /redacted: secret/);
    for (const form of [...forms, "another-value-of-hers"]) assert.ok(!told.includes(form), form);
    assert.deepEqual(await namesKept(siege), ["fresh", "sid"]);
    const shown = JSON.stringify(await siege.ask("profiles", { do: "list" }));
    for (const form of forms) assert.ok(!shown.includes(form), form);
    // Nothing of the log, of the store behind it, or of what is beside it has the value: its own file alone.
    const files = await filesWith(siege.dir, forms);
    assert.deepEqual(files, ["/kernel/profiles/shop.json"]);
    const { mode } = await Deno.stat(`${siege.dir}/kernel/profiles/shop.json`);
    assert.equal((mode ?? 0) & 0o777, 0o600);
  });
});

/** As templates write it into a page: nothing of the value stands in the bytes. */
function entities(text: string): string {
  return [...text].map((sign) => `&#x${sign.codePointAt(0)?.toString(16)};`).join("");
}

/** Files beneath `dir` that hold one of these; what vanishes meanwhile holds nothing. */
async function filesWith(dir: string, texts: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  const todo = [dir];
  for (let folder = todo.pop(); folder !== undefined; folder = todo.pop()) {
    const inside = await Array.fromAsync(Deno.readDir(folder)).catch(() => []);
    for (const { name, isDirectory, isFile } of inside) {
      const path = `${folder}/${name}`;
      if (isDirectory) todo.push(path);
      if (!isFile) continue;
      const bytes = await Deno.readFile(path).catch(() => new Uint8Array());
      const text = new TextDecoder("latin1").decode(bytes);
      if (texts.some((each) => text.includes(each))) found.push(path.slice(dir.length));
    }
  }
  return found.sort();
}

Deno.test("another agent, a guest and a plain fetch of the very same agent are nobody there", async () => {
  await onShop({}, async (siege, { shop, seen }) => {
    await does(siege, open(`${shop}/reader`), { agent: { ...AGENT, name: "reader" } });
    await does(siege, open(`${shop}/nobody`), { agent: undefined });
    await does(siege, open(`${shop}/guest`), { profile: "guest" });
    await does(
      siege,
      `await call("http_fetch", { url: "${shop}/fetch" }); await call("web_read", { url: "${shop}/read" });
       await call("http_fetch", { url: "${shop}/own", headers: { cookie: "sid=1" } });`,
    );
    assert.deepEqual(seen.shop.filter((line) => !line.endsWith(" -")), []);
    assert.ok(seen.shop.includes("GET /fetch -"), JSON.stringify(seen.shop));
    assert.ok(!seen.shop.some((line) => line.includes("/own")));
  });
});

Deno.test("agents that it starts, copies of itself and theirs, are nobody there", async () => {
  await onShop({}, async (siege, { shop, seen }) => {
    // Each starts a copy until there are too many above it, and looks when its own has looked.
    await does(
      siege,
      `const made = await call("agent_spawn", { request: "Look for me" });
       const number = /"agent":(\\d+)/.exec(made.content)?.[1];
       if (number) await call("agent_wait", { agent: Number(number) });
       await call("browser_open", { url: "${shop}/" });`,
    );
    assert.ok(seen.shop.length > 1, JSON.stringify(seen.shop));
    assert.equal(seen.shop.at(-1), `GET / ${SIGNED_IN}`);
    assert.deepEqual(new Set(seen.shop.slice(0, -1)), new Set(["GET / -"]));
  });
});

Deno.test("a second task finds the profile taken, a conflict says by whom, and it is free when the browser is closed", async () => {
  const held = Promise.withResolvers<void>();
  await onShop({
    shop: (_, { pathname }) =>
      pathname === "/held" ? held.promise.then(() => undefined) : undefined,
  }, async (siege, { shop, seen }) => {
    const first = await starts(
      siege,
      `${open(`${shop}/first`)} ${open(`${shop}/held`)}
       await call("browser_close", { url: "${shop}/held" });
       await call("browser_open", { url: "${shop}/later" });
       await call("browser_close", { url: "${shop}/later" });`,
    );
    await first.first(({ event, body }) => event === "fetched" && body["profile"] === "shop");
    const [second] = await does(siege, open(`${shop}/second`));
    assert.notEqual(second?.outcome, "ok");
    assert.match(JSON.stringify(second), new RegExp(`task ${first.id} works with it`));
    const [resource] = await siege.ask("resources", { do: "list" }) as {
      ref: string;
      conflicts: { holder: { task: string }; about: string }[];
    }[];
    assert.equal(resource?.ref, "browserProfile:shop");
    assert.deepEqual(resource?.conflicts.map(({ holder, about }) => [holder.task, about]), [
      [first.id, "claim"],
    ]);
    held.resolve();
    await first.end;
    const [third] = await does(siege, open(`${shop}/third`));
    assert.equal(third?.outcome, "ok", JSON.stringify(third));
    assert.ok(!seen.shop.some((line) => line.includes("/second")));
    assert.ok(seen.shop.includes(`GET /third ${SIGNED_IN}`));
  });
});

Deno.test("what was taken back while a request was under way brings nothing, and its answer leaves nothing behind", async () => {
  const asked = Promise.withResolvers<void>(), forgotten = Promise.withResolvers<void>();
  const slow: Serve = async () => {
    asked.resolve();
    await forgotten.promise;
    return html("<p>secrets of alice</p>", { "set-cookie": "late=1" });
  };
  await onShop({ shop: slow }, async (siege, { shop }) => {
    const task = await starts(siege, open(`${shop}/`));
    await asked.promise;
    assert.deepEqual(await siege.ask("profiles", { do: "forget", name: "shop" }), { cookies: 1 });
    forgotten.resolve();
    await task.end;
    const answer = String((await task.task())["answer"]);
    assert.match(answer, /it is taken back/);
    assert.doesNotMatch(answer, /secrets of alice/);
    assert.deepEqual(await namesKept(siege), []);
  });
});

Deno.test("an expired profile is emptied with an event, a changed entry and a forged file are nothing", async () => {
  await onShop({}, async (siege, sites) => {
    const { shop, seen } = sites, file = `${siege.dir}/kernel/profiles/shop.json`;
    const kept = JSON.parse(await Deno.readTextFile(file));
    const past = { approvedAt: Date.now() - 172_800_000, expiresAt: Date.now() - 86_400_000 };
    const write = (value: object) => Deno.writeTextFile(file, JSON.stringify(value));

    await write({ ...kept, ...await signedGrant(siege, sites, past) });
    await siege.restart();
    const [over] = await does(siege, open(`${shop}/expired`));
    assert.match(JSON.stringify(over), /does not go along: it is expired/);
    assert.deepEqual(JSON.parse(await Deno.readTextFile(file)).cookies, []);
    const log = JSON.stringify(await siege.ask("auditExport", null));
    assert.ok(/what[\\"]+:[\\"]+expired/.test(log), "no event says that it expired");

    // Its own file, with a later end that nobody signed.
    await write({ ...kept, grant: { ...kept.grant, expiresAt: kept.grant.expiresAt + 1 } });
    await siege.restart();
    await does(siege, open(`${shop}/forged`));
    // Signed for another agent, and for another origin, than remit.yaml says.
    for (const changes of [{ agent: "reader" }, { origins: [shop, "https://example.org"] }]) {
      await write({ ...kept, ...await signedGrant(siege, sites, changes) });
      await siege.restart();
      const [other] = await does(siege, open(`${shop}/changed`));
      assert.match(JSON.stringify(other), /changed since it was approved/);
      await does(siege, open(`${shop}/changed`), { agent: { ...AGENT, name: "reader" } });
    }
    assert.deepEqual(seen.shop.filter((line) => !line.endsWith(" -")), []);
  });
});

Deno.test("only the person's signature over exactly this grants anything, and only origins of it are imported", async () => {
  await onShop({}, async (siege, sites) => {
    const { grant, signature } = await signedGrant(siege, sites);
    const ask = (body: object) => siege.ask("profiles", body);
    const changed = { ...grant, origins: [sites.shop, "https://bank.example"] };
    await assert.rejects(ask({ do: "approve", grant: changed, signature }), /not the person's/);
    await assert.rejects(
      ask({ do: "approve", grant, signature: "A".repeat(86) }),
      /not the person's/,
    );
    const long = await signedGrant(siege, sites, { expiresAt: Date.now() + 365 * 86_400_000 });
    await assert.rejects(ask({ do: "approve", ...long }), /not what remit.yaml says/);
    for (const origin of ["https://bank.example", sites.evil, `${sites.shop}0`]) {
      const cookies = [cookie(sites, { origin })];
      await assert.rejects(
        ask({ do: "import", name: "shop", cookies }),
        /none of its origins|Cannot/,
      );
    }
    // For another agent the cookies of this one are gone.
    await ask({ do: "approve", ...await signedGrant(siege, sites, { agent: "reader" }) });
    assert.deepEqual(await namesKept(siege), []);
  });
});

for (const at of ["beforeCookies", "afterCookies"] as const satisfies readonly FailPoint[]) {
  Deno.test(`killed ${at}: the jar is the old one or the new one, and the page comes only after it`, async () => {
    const set: Serve = () => html("<p>a page</p>", { "set-cookie": "fresh=1; Path=/" });
    await onShop({ shop: set }, async (siege, { shop, seen }) => {
      await siege.restart({ failpoint: { at, after: 1 } });
      const task = await siege.run({
        turns:
          `  - calls: [{ tool: browser_open, args: { url: "${shop}/" } }]\n  - say: "{{ tool.browser_open }}"`,
        ...{ agent: AGENT, onQuestion: "queue" },
      });
      await gone(siege.pid);
      await siege.restart();
      const names = await namesKept(siege);
      const had = at === "beforeCookies" ? ["sid"] : ["fresh", "sid"];
      // The task goes on by itself, and asks the site anew.
      const again = await siege.watch(task.id);
      await again.end;
      assert.deepEqual(await namesKept(siege), ["fresh", "sid"]);
      assert.ok(names.length >= had.length, JSON.stringify(names));
      const second = seen.shop[1] ?? "";
      assert.equal(second.includes("fresh=1"), at === "afterCookies", JSON.stringify(seen.shop));
      assert.match(String((await again.task())["answer"]), /a page/);
      const files = Deno.readDirSync(`${siege.dir}/kernel/profiles`);
      assert.deepEqual([...files].map(({ name }) => name), ["shop.json"]);
    });
  });
}

Deno.test("a page of a stranger's leads into the site without Strict cookies; a step within it has them", async () => {
  const lure: Serve = () => html(`<a href="${lured.shop}/transfer?to=mallory">a prize</a>`);
  const lured = { shop: "" };
  await onShop({ evil: lure }, async (siege, sites) => {
    const { shop, evil, seen } = sites;
    lured.shop = shop;
    await siege.ask("profiles", {
      ...{ do: "import", name: "shop" },
      cookies: [cookie(sites, { name: "strict", sameSite: "strict", value: "strictly" })],
    });
    const came = await does(
      siege,
      `const page = await call("browser_open", { url: "${evil}/" });
       const link = /link (e\\d+)/.exec(page.content)[1];
       await call("browser_click", { ref: link, snapshot: snapshot(page), url: "${shop}/transfer?to=mallory" });
       await call("browser_open", { url: "${shop}/account" });`,
    );
    assert.deepEqual(came.map(({ outcome }) => outcome), ["ok", "ok", "ok"], JSON.stringify(came));
    assert.deepEqual(seen.evil, ["GET / -"]);
    const [lax, within] = seen.shop;
    assert.equal(lax, `GET /transfer?to=mallory ${SIGNED_IN}`);
    assert.ok(within?.includes("strict=strictly") && within.includes(SIGNED_IN), within);
  });
});
