import assert from "node:assert/strict";
import { Fault } from "../../../contracts/base/fault.ts";
import {
  HOST,
  makeService,
  ORIGIN,
  question,
  type Service,
  type ServiceWish,
  SESSION,
  SHOWN,
} from "../_fixture/service.ts";

const PATH = "/question/q000000000001";
const COOKIE = `remit_page=${SESSION}`;
/** What a browser says of a form that this page sent. */
const OWN: Readonly<Record<string, string>> = {
  origin: ORIGIN,
  "sec-fetch-site": "same-origin",
  "sec-fetch-dest": "document",
  "content-type": "application/x-www-form-urlencoded",
  cookie: COOKIE,
};

/** The token that the page's own form has. */
async function tokenOf(service: Service): Promise<string> {
  const text = await (await service.ask(PATH, { headers: { cookie: COOKIE } })).text();
  const token = /name="token" value="([^"]+)"/.exec(text)?.[1];
  assert.ok(token !== undefined, text);
  return token;
}

const form = (fields: Readonly<Record<string, string>>): string =>
  new URLSearchParams(fields).toString();

async function served(wish: ServiceWish = {}): Promise<{
  readonly service: Service;
  readonly token: string;
  post(
    more?: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string | undefined>>,
    path?: string,
  ): Promise<Response>;
}> {
  const service = makeService(wish);
  const token = await tokenOf(service);
  service.views.length = 0;
  return {
    ...{ service, token },
    post: (more = {}, headers = {}, path = PATH) => {
      const given = Object.entries({ ...OWN, ...headers }).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value] as const]
      );
      return service.ask(path, {
        method: "POST",
        body: form({ token, shown: SHOWN, decision: "allow", ...more }),
        headers: Object.fromEntries(given),
      });
    },
  };
}

Deno.test("carol answers what she was shown, and says why", async () => {
  const { service, post } = await served();
  const answer = await post({ decision: "deny", say: "not on a Sunday" });
  assert.equal(answer.status, 303);
  assert.equal(answer.headers.get("location"), PATH);
  assert.deepEqual(service.answers, [{
    ...{ session: SESSION, question: "q000000000001", shown: SHOWN },
    ...{ decision: "deny", say: "not on a Sunday" },
  }]);
});

Deno.test("mallory's page posts the same form: no answer reaches the starter", async () => {
  const { service, post } = await served({ origins: ["https://ui.example"] });
  const hostile: readonly (readonly [string, Readonly<Record<string, string | undefined>>])[] = [
    ["no origin", { origin: undefined }],
    ["another origin", { origin: "http://evil.example" }],
    ["a page without an origin", { origin: "null" }],
    ["another server of this machine", { origin: "http://127.0.0.1:3000" }],
    ["the same name at another port", { origin: "http://localhost:7434" }],
    ["an origin that may talk MCP", { origin: "https://ui.example" }],
    ["another site, says the browser", { "sec-fetch-site": "cross-site" }],
    ["another port, says the browser", { "sec-fetch-site": "same-site" }],
    ["typed by nobody", { "sec-fetch-site": "none" }],
  ];
  for (const [name, headers] of hostile) {
    const answer = await post({}, headers);
    assert.equal(answer.status, 403, name);
    assert.equal(answer.headers.get("set-cookie"), null, name);
  }
  assert.deepEqual([service.answers, service.views], [[], []]);
});

Deno.test("without the cookie, or with a made-up one, nobody answers", async () => {
  const { service, post } = await served();
  for (
    const cookie of [
      undefined,
      "remit_page=",
      `remit_page=${"X".repeat(43)}`,
      `__Host-remit=${SESSION}`,
      // One of them was set by somebody else.
      `${COOKIE}; ${COOKIE}`,
      `remit_page=${"X".repeat(43)}; ${COOKIE}`,
    ]
  ) {
    const answer = await post({}, { cookie });
    assert.ok([401, 403].includes(answer.status), `${cookie} ${answer.status}`);
  }
  assert.deepEqual(service.answers, []);
});

Deno.test("a form without the session's token, or with more or less than its fields, is not taken", async () => {
  const { service, token, post } = await served();
  const wrong: readonly Readonly<Record<string, string>>[] = [
    { token: "" },
    { token: "sealed-1-SSSS" },
    { token: token.toUpperCase() },
    { decision: "allow always" },
    { shown: "x" },
    { for: "session" },
    { say: "x".repeat(2_001) },
  ];
  for (const fields of wrong) {
    const answer = await post(fields);
    assert.equal(answer.status, 403, JSON.stringify(fields));
  }
  const twice = await service.ask(PATH, {
    method: "POST",
    body: `${form({ token, shown: SHOWN, decision: "deny" })}&decision=allow`,
    headers: OWN,
  });
  assert.equal(twice.status, 403);
  const large = await service.ask(PATH, {
    method: "POST",
    body: form({ token, shown: SHOWN, decision: "allow", say: "x".repeat(70_000) }),
    headers: OWN,
  });
  assert.equal(large.status, 413);
  assert.deepEqual(service.answers, []);
});

Deno.test("a question that changed meanwhile is shown anew, and not answered", async () => {
  const { service, post } = await served({
    asks: { pageAnswer: () => Promise.reject(new Fault("conflict", "Cannot answer: changed")) },
  });
  const answer = await post();
  assert.equal(answer.status, 409);
  const text = await answer.text();
  assert.match(text, /Nothing was answered: this is no longer what you were shown/);
  assert.match(text, /┃ file_write/);
  assert.equal(service.views.length, 1);
});

Deno.test("why the starter takes no answer, or shows nothing, is said to who is logged in", async () => {
  const fault = new Fault("refused", "Cannot take the answer: <b>too late");
  const { post } = await served({ asks: { pageAnswer: () => Promise.reject(fault) } });
  const answer = await post();
  assert.equal(answer.status, 409);
  const text = /Nothing was answered. Cannot take the answer: &lt;b&gt;too late/;
  assert.match(await answer.text(), text);
  const hidden = makeService({ asks: { pageView: () => Promise.reject(fault) } });
  const looked = await hidden.ask(PATH, { headers: { cookie: COOKIE } });
  assert.equal(looked.status, 409);
  assert.match(await looked.text(), /Not shown.*Cannot take the answer: &lt;b&gt;/s);
  const bug = makeService({
    asks: { pageView: () => Promise.reject(new Error("at /secret/path")) },
  });
  const failed = await bug.ask(PATH, { headers: { cookie: COOKIE } });
  assert.equal(failed.status, 500);
  assert.deepEqual(await failed.json(), { error: "the request failed" });
});

Deno.test("an answer goes to the question of its address, whatever else it names", async () => {
  const { service, post } = await served();
  await post({}, {}, "/question/q000000000002");
  assert.deepEqual(service.answers.map((each) => each.question), ["q000000000002"]);
  for (const path of ["/question/t000000000001", "/question/q1", "/question/q00000000000%31"]) {
    assert.ok((await post({}, {}, path)).status >= 303, path);
  }
  assert.ok(service.answers.every((each) => /^q00000000000[12]$/.test(each.question)));
});

Deno.test("what the page cannot answer has no form, and says where it is answered", async () => {
  const { elsewhere } = { elsewhere: "At your terminal: remit answer q000000000001 allow" };
  const { answer: _none, ...view } = question({ elsewhere });
  const service = makeService({ view: () => view });
  const text = await (await service.ask(PATH, { headers: { cookie: COOKIE } })).text();
  assert.match(text, /remit answer q000000000001 allow/);
  assert.doesNotMatch(text, /name="decision"/);
});

Deno.test("a login gives a cookie that no script reads and no other site sends; its code is used by the form alone", async () => {
  let opened = 0;
  const service = makeService({
    asks: {
      pageOpen: (code) =>
        code === "right"
          ? Promise.resolve((opened++, { session: SESSION, expiresAt: 1_800_000_000_000 }))
          : Promise.reject(new Fault("denied", "Cannot")),
    },
  });
  const looked = await service.ask("/login?code=right");
  assert.equal(looked.status, 200);
  assert.match(await looked.text(), /<input type="hidden" name="code" value="right">/);
  assert.equal(opened, 0, "whoever looks ahead uses nothing up");
  const { cookie: _none, ...own } = OWN;
  const post = (code: string, headers = own): Promise<Response> =>
    service.ask("/login", { method: "POST", body: form({ code }), headers });
  const answer = await post("right");
  assert.equal(answer.status, 303);
  assert.equal(
    answer.headers.get("set-cookie"),
    `${COOKIE}; Path=/; HttpOnly; SameSite=Strict; Expires=Fri, 15 Jan 2027 08:00:00 GMT`,
  );
  assert.equal((await post("wrong")).status, 401);
  assert.equal((await post("right", { ...own, origin: "http://evil.example" })).status, 403);
  assert.equal(opened, 1);
  const statuses: number[] = [];
  for (let n = 0; n < 30; n++) statuses.push((await post(`guess ${n}`)).status);
  assert.ok(statuses.includes(429), "who tries codes is slowed down");
});

Deno.test("over https the cookie is this host's alone", async () => {
  const service = makeService({
    ...{ https: true, origins: ["https://remit.example"], hosts: ["remit.example"] },
  });
  const answer = await service.ask("/login", {
    method: "POST",
    body: form({ code: "right" }),
    headers: {
      host: "remit.example",
      origin: "https://remit.example",
      "sec-fetch-site": "same-origin",
    },
  });
  assert.match(
    answer.headers.get("set-cookie") ?? "",
    /^__Host-remit=\S+; Path=\/; HttpOnly; SameSite=Strict; Secure; /,
  );
});

Deno.test("logging out ends the session at the starter; another page's form does not", async () => {
  const { service, token, post } = await served();
  const out = (headers: Readonly<Record<string, string>>, given = token): Promise<Response> =>
    service.ask("/logout", { method: "POST", body: form({ token: given }), headers });
  assert.equal((await out({ ...OWN, origin: "http://evil.example" })).status, 403);
  assert.equal((await out(OWN, "wrong")).status, 403);
  assert.deepEqual(service.closed, []);
  const answer = await out(OWN);
  assert.match(answer.headers.get("set-cookie") ?? "", /^remit_page=; .*Max-Age=0$/);
  assert.deepEqual(service.closed, [SESSION]);
  assert.equal((await post({}, { cookie: `remit_page=${"X".repeat(43)}` })).status, 403);
});

Deno.test("no session sees nothing; one that is over is told so, and its cookie goes", async () => {
  const service = makeService();
  for (const path of ["/", "/task/t000000000001", "/message/m000000000001", PATH]) {
    const none = await service.ask(path);
    assert.equal(none.status, 401, path);
    assert.match(await none.text(), /Who are you\?/);
    const over = await service.ask(path, { headers: { cookie: `remit_page=${"X".repeat(43)}` } });
    assert.equal(over.status, 401);
    assert.match(over.headers.get("set-cookie") ?? "", /Max-Age=0/);
    assert.match(await over.text(), /Your session is over/);
  }
  assert.deepEqual(service.views, []);
});

Deno.test("no page of ours is framed, loaded as a script or picture, cached, or runs anything", async () => {
  const service = makeService();
  for (
    const path of ["/", "/login?code=x", PATH, "/task/t000000000001", "/message/m000000000001"]
  ) {
    const answer = await service.ask(path, { headers: { cookie: COOKIE } });
    assert.equal(answer.status, 200, path);
    const headers = Object.fromEntries(answer.headers);
    assert.equal(
      headers["content-security-policy"],
      "default-src 'none'; style-src 'sha256-digest'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    );
    assert.equal(headers["x-frame-options"], "DENY");
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.equal(headers["referrer-policy"], "same-origin");
    assert.equal(headers["cache-control"], "no-store");
    assert.equal(headers["content-type"], "text/html; charset=utf-8");
    assert.doesNotMatch(await answer.text(), /<script|javascript:|\son\w+=/i);
    for (const to of ["iframe", "frame", "object", "embed", "script", "image", "style"]) {
      const within = await service.ask(path, {
        headers: { cookie: COOKIE, "sec-fetch-dest": to },
      });
      assert.equal(within.status, 403, `${path} as ${to}`);
    }
  }
});

Deno.test("every field of a view is text: no sign of it becomes HTML", async () => {
  const evil =
    `</pre></title><script>x()</script><img src=x onerror="x()"><a href='javascript:x()'>&lt;`;
  const service = makeService({
    view: () =>
      question({
        title: evil,
        sections: [{
          heading: evil,
          rows: [{ cells: [evil, evil], to: "t000000000001" as never }, { cells: [evil] }],
          lines: [evil],
        }],
        elsewhere: evil,
      }),
  });
  const text = await (await service.ask(PATH, { headers: { cookie: COOKIE } })).text();
  assert.doesNotMatch(text, /<script|<img|<a href='|onerror="/);
  assert.equal(text.split("&lt;script&gt;x()&lt;/script&gt;").length - 1, 8, text);
  const login = await (await service.ask(`/login?code=${encodeURIComponent(evil)}`)).text();
  assert.doesNotMatch(login, /<script|<img|onerror="/);
});

Deno.test("Enter alone is no: the button that denies comes first", async () => {
  const service = makeService();
  const text = await (await service.ask(PATH, { headers: { cookie: COOKIE } })).text();
  const buttons = [...text.matchAll(/<button[^>]*name="decision" value="(\w+)"/g)].map((
    [, value],
  ) => value);
  assert.deepEqual(buttons, ["deny", "allow"]);
});

Deno.test(`the page is asked for under this server's names alone (${HOST})`, async () => {
  const service = makeService();
  for (const host of ["evil.example:7433", "127.0.0.1:80", "localhost"]) {
    assert.equal((await service.ask("/login?code=right", { headers: { host } })).status, 403, host);
  }
});
