/** mallory against the page, in a real Chromium over a real kernel. Each says what would have happened. */
import { deepEqual, equal, match, ok } from "node:assert/strict";
import type { Frame, Page } from "puppeteer-core";
import { HAS_CHROMIUM, startChromium } from "../../fake/chromium.ts";
import { type PageWorld, withPage } from "../../fake/page_world.ts";
import { waitUntil } from "../../fake/wait_until.ts";

/** Runs in the page if anything of hers does. */
const HACK = "document.documentElement.dataset.hacked='1';fetch('http://evil.example')";
const EVIL = [
  `</span></pre></title></style><script>${HACK}</script>`,
  `<img src=x onerror="${HACK}">`,
  `<a href="javascript:${HACK}">log in again</a>`,
  `<svg/onload=${HACK}>`,
  `" autofocus onfocus="${HACK}`,
  `\u202egnp.tseuqer\u2066`,
  `<form action=//evil.example><button>Allow</button></form><base href=//evil.example>`,
].join(" ");

const WRITES = `
scenario: writes what mallory made of it
turns:
  - say: I write.
    calls:
      - tool: file_write
        args:
          path: ${JSON.stringify("desk/<img src=x onerror=alert(1)>&lt;b&gt;.md")}
          content: ${JSON.stringify(EVIL)}
  - when: { result: { tool: file_write, outcome: ok } }
    say: It is written.
  - when: { result: { tool: file_write } }
    say: "I was told: {{ tool.file_write }}"
`;

const hacked = (page: Page): Promise<string> =>
  page.evaluate("document.documentElement.dataset.hacked ?? 'no'") as Promise<string>;
const words = (page: Page): Promise<string> =>
  page.evaluate("document.body.innerText") as Promise<string>;

/** Lines that go on, joined. */
const joined = (text: string): string => text.replaceAll("\n┃   │ ↪ ", "");

/** Presses a button and waits for what comes of it. */
async function press(page: Page, selector: string): Promise<number> {
  await page.bringToFront();
  const [answer] = await Promise.all([page.waitForNavigation(), page.click(selector)]);
  return answer?.status() ?? 0;
}

/** What stands in a frame; nothing where it was not let in at all. */
async function textOf(frame: Frame): Promise<string> {
  try {
    return String(await frame.evaluate("document.body?.innerText ?? ''"));
  } catch (error) {
    if (error instanceof Error && /detached/.test(error.message)) return "";
    throw error;
  }
}

/** A task that waits with its one question. */
async function waits(
  { kernel, home }: PageWorld,
): Promise<{ readonly task: string; readonly question: string }> {
  const task = await kernel.run({
    ...{ scenario: WRITES, request: EVIL, onQuestion: "queue" },
    mounts: [home.mount({ mode: "rw" })],
  });
  let question = "";
  await waitUntil("the question", async () => {
    const [open] = await kernel.questions(task);
    question = open?.id ?? "";
    const { status } = Object(await kernel.ask("task", { task }));
    return open !== undefined && status === "needsApproval" ? true : undefined;
  });
  return { task, question };
}

Deno.test({
  name:
    "in a browser: nothing of mallory's runs, no other page answers or frames, and carol's word lets the call go on",
  ignore: !HAS_CHROMIUM,
  // Chromium's pipes and its process are closed with it, after the last claim.
  sanitizeOps: false,
  sanitizeResources: false,
  async fn(t) {
    const heard: string[] = [];
    const serve: { body: string } = { body: "" };
    const evil = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => undefined },
      (request) => {
        const { pathname } = new URL(request.url);
        heard.push(`${request.method} ${pathname}`);
        return new Response(serve.body, {
          headers: { "content-type": "text/html; charset=utf-8" },
        });
      },
    );
    const evilUrl = `http://evil.example:${evil.addr.port}`;
    try {
      await withPage(async (world) => {
        const { url, kernel, home } = world;
        await using chromium = await startChromium(["evil.example", "localhost"]);
        const page = await chromium.tab();
        const { task, question } = await waits(world);
        const asked = `${url}/question/${question}`;
        const isOpen = async (): Promise<boolean> =>
          (await kernel.questions(task as never)).some(({ id }) => id === question);

        await t.step("this very test sees a script that runs", async () => {
          serve.body = `<!doctype html><p>${EVIL}</p>`;
          await page.goto(evilUrl);
          equal(await hacked(page), "1");
        });

        await t.step("who is not logged in sees nothing", async () => {
          const answer = await page.goto(asked);
          equal(answer?.status(), 401);
          match(await words(page), /Who are you\?/);
        });

        await t.step("a one-time code logs carol in, and nobody a second time", async () => {
          const code = world.desk.code();
          await page.goto(`${url}/login?code=${code}`);
          await press(page, "main button");
          equal(page.url(), `${url}/`);
          match(await words(page), new RegExp(`waiting for you[\\s\\S]*${question}`));
          const other = await chromium.tab();
          await other.goto(`${url}/login?code=${code}`);
          equal(await press(other, "main button"), 401);
          match(await words(other), /used up/);
          await other.close();
        });

        await t.step("the page's own style is let in: the policy's digest is of it", async () => {
          const width = await page.evaluate("getComputedStyle(document.body).maxWidth");
          equal(width, "960px");
          const fits =
            "document.documentElement.scrollWidth <= document.documentElement.clientWidth";
          await page.setViewport({ width: 390, height: 800 });
          for (const path of ["/", `/task/${task}`, `/question/${question}`]) {
            await page.goto(`${url}${path}`);
            equal(
              await page.evaluate(fits),
              true,
              `a phone shows ${path} without scrolling sideways`,
            );
          }
          await page.setViewport({ width: 1280, height: 900 });
        });

        await t.step(
          "script in request, file name and content is text, wherever it is shown",
          async () => {
            const before = heard.length;
            for (const path of ["/", `/task/${task}`, `/question/${question}`]) {
              await page.goto(`${url}${path}`, { waitUntil: "load" });
              equal(await hacked(page), "no", path);
              const made = await page.evaluate(
                "document.querySelectorAll('script,img,svg,iframe,base,main a[href^=\"javascript\"]').length",
              );
              equal(made, 0, path);
              ok(!(await words(page)).includes("\u202e"), "nothing turns the reading direction");
            }
            const text = joined(await words(page));
            match(text, /<script>document\.documentElement/);
            match(text, /file_write {2}\(mutateLocal\)/);
            match(text, /desk\/<img src=x onerror=alert\(1\)>&lt;b&gt;\.md/);
            equal(heard.length, before, "nobody was called");
          },
        );

        await t.step("the policy alone stops what the renderer might let through", async () => {
          const before = heard.length;
          await page.goto(asked);
          const markup =
            `<form action="${evilUrl}/w"></form>${EVIL}<img src="${evilUrl}/a.png"><iframe src="${evilUrl}/f"></iframe>
<style>body{background:url(${evilUrl}/b.png)}</style><link rel=stylesheet href="${evilUrl}/c.css">`;
          await page.evaluate(`
            document.querySelector("main").innerHTML = ${JSON.stringify(markup)};
            const made = document.createElement("script");
            made.textContent = ${JSON.stringify(HACK)};
            document.body.append(made);
            document.querySelector("main a").click();
            document.querySelector("main form").requestSubmit();
          `);
          await page.evaluate("new Promise((seen) => requestIdleCallback(seen))");
          equal(await hacked(page), "no");
          equal(page.url(), asked);
          // A frame's host is connected to before the policy is asked, and told nothing.
          deepEqual(heard.slice(before), []);
        });

        await t.step(
          "mallory's page posts the form: it comes without the cookie, from elsewhere",
          async () => {
            serve.body = `<!doctype html><form method=post action="${asked}">
<input name=token value=x><input name=shown value=${"0".repeat(64)}>
<button name=decision value=allow>win a prize</button></form>`;
            const mallory = await chromium.tab();
            for (const from of [evilUrl, `http://127.0.0.1:${evil.addr.port}`]) {
              await mallory.goto(from);
              equal(await press(mallory, "button"), 403, from);
            }
            serve.body = `<!doctype html><meta name=referrer content=no-referrer>${serve.body}`;
            await mallory.goto(evilUrl);
            equal(await press(mallory, "button"), 403, "nor when it hides where it comes from");
            await mallory.close();
            equal(await isOpen(), true);
          },
        );

        await t.step("not even with the page's own token and digest", async () => {
          await page.goto(asked);
          const fields = await page.evaluate(
            "Object.fromEntries(new FormData(document.querySelector('form.answer')))",
          ) as Record<string, string>;
          serve.body = `<!doctype html><form method=post action="${asked}">
<input name=token value="${fields["token"]}"><input name=shown value="${fields["shown"]}">
<button name=decision value=allow>win a prize</button></form>`;
          const mallory = await chromium.tab();
          // Another port of the same name gets the cookie: its Origin gives it away.
          for (const from of [evilUrl, `http://127.0.0.1:${evil.addr.port}`]) {
            await mallory.goto(from);
            equal(await press(mallory, "button"), 403, from);
          }
          await mallory.close();
          equal(await isOpen(), true);
        });

        await t.step(
          "mallory's page frames the question under a button of hers: the frame stays empty",
          async () => {
            serve.body =
              `<!doctype html><iframe src="${asked}"></iframe><object data="${asked}"></object>`;
            const mallory = await chromium.tab();
            for (const from of [evilUrl, `http://127.0.0.1:${evil.addr.port}`]) {
              await mallory.goto(from, { waitUntil: "load" });
              const frames = mallory.frames().filter((frame) => frame !== mallory.mainFrame());
              ok(frames.length > 0);
              for (const frame of frames) {
                const text = await textOf(frame);
                ok(!text.includes("file_write"), text);
              }
            }
            await mallory.close();
          },
        );

        await t.step("Enter in the words to the agent is no", async () => {
          const { question: second } = await waits(world);
          await page.goto(`${url}/question/${second}`);
          await page.type("input[name=say]", "not now");
          const [answer] = await Promise.all([
            page.waitForNavigation(),
            page.keyboard.press("Enter"),
          ]);
          equal(answer?.status(), 200);
          match(await words(page), /what was asked: it is denied/);
        });

        await t.step(
          "carol allows it: the call goes on, and the log says whose word it was",
          async () => {
            await page.goto(asked);
            equal(await press(page, "button.yes"), 200);
            match(await words(page), /what was asked: it is allowed/);
            equal(await page.$("form.answer"), null);
            await waitUntil(
              "the task's end",
              async () =>
                Object(await kernel.ask("task", { task })).status === "done" ? true : undefined,
            );
            const written = await Deno.readTextFile(
              `${home.desk}/<img src=x onerror=alert(1)>&lt;b&gt;.md`,
            );
            equal(written, EVIL);
            const log = await kernel.ask("log", { task, from: 0 });
            const answered = (Array.isArray(log) ? log : []).map(Object).find((each) =>
              each.event === "questionAnswered"
            );
            equal(answered.body.channel, "page");
            equal(answered.body.delegatedBy, home.person.key);
            ok(answered.body.key !== home.person.key);
          },
        );

        await t.step("log out: the session is over, also for who kept the cookie", async () => {
          const kept = await page.cookies();
          equal(kept.length, 1);
          const [cookie] = kept;
          ok(cookie?.httpOnly === true && cookie.sameSite === "Strict", JSON.stringify(kept));
          equal(await press(page, "header button"), 401);
          await page.setCookie(...kept);
          const answer = await page.goto(`${url}/`);
          equal(answer?.status(), 401);
        });
      });
    } finally {
      await evil.shutdown();
    }
  },
});
