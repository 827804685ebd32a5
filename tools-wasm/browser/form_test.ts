import { deepEqual, equal, match, ok } from "node:assert/strict";
import fc from "fast-check";
import { linesOf, makeBrowser } from "./_fixture/browser.ts";

const URL_OF_PAGE = "https://a.example/d/p";
const NEWEST = "01010101-1";

/** What the form at `e1` sends as it is. */
async function sends(form: string): Promise<string> {
  const line = (await linesOf(form)).split("\n").find((each) => each.includes("sending e1"));
  return line?.replace(/^.*sending e1( or e\d+)*: browser_(submit|post), url /, "") ?? "(nothing)";
}

Deno.test("alice sees exactly what a form sends as it is", async () => {
  const cases: readonly (readonly [what: string, form: string, sent: string])[] = [
    ["nothing", "<form>", "https://a.example/d/p?"],
    [
      "its own query is replaced",
      '<form action="/s?a=1#f"><input name=b>',
      "https://a.example/s?b=",
    ],
    [
      "text",
      '<form action=s><input name="a b" value="1 &amp; é~*">',
      "https://a.example/d/s?a+b=1+%26+%C3%A9%7E*",
    ],
    [
      "no name, and disabled ones",
      "<form><input value=1><input name=a value=1 disabled>",
      "https://a.example/d/p?",
    ],
    ["a fieldset", "<form><fieldset disabled><input name=a></fieldset>", "https://a.example/d/p?"],
    ["hidden", "<form><input type=hidden name=t value='x\ny'>", "https://a.example/d/p?t=x%0D%0Ay"],
    [
      "check boxes",
      "<form><input type=checkbox name=a><input type=checkbox name=b checked>",
      "https://a.example/d/p?b=on",
    ],
    [
      "radio",
      "<form><input type=radio name=a value=1 checked><input type=radio name=a value=2 checked>",
      "https://a.example/d/p?a=2",
    ],
    [
      "a choice",
      "<form><select name=a><option disabled>x<option value=1>One<option>Two</select>",
      "https://a.example/d/p?a=1",
    ],
    [
      "chosen",
      "<form><select name=a><option>x<option selected>  y  z </select>",
      "https://a.example/d/p?a=y+z",
    ],
    [
      "choices",
      "<form><select name=a multiple><option selected>x<option>y<option selected>z</select>",
      "https://a.example/d/p?a=x&a=z",
    ],
    [
      "a text area",
      "<form><textarea name=a>\n b\nc</textarea>",
      "https://a.example/d/p?a=+b%0D%0Ac",
    ],
    [
      "the first button",
      "<form><button name=go value=1>x</button><button name=no>y</button>",
      "https://a.example/d/p?go=1",
    ],
    [
      "a picture as a button",
      "<form><input type=image name=i>",
      "https://a.example/d/p?i.x=0&i.y=0",
    ],
    [
      "a control elsewhere",
      "<form id=f></form><input form=f name=a value=1>",
      "https://a.example/d/p?a=1",
    ],
    [
      "hidden by style",
      "<form><input name=trap style='display:none'>",
      "https://a.example/d/p?trap=",
    ],
    [
      "a post",
      '<form method=POST action="/p?x=1"><input name=a value="b c">',
      'https://a.example/p?x=1, body "a=b+c"',
    ],
  ];
  for (const [what, form, sent] of cases) equal(await sends(form), sent, what);
});

Deno.test("every button says what it sends itself", async () => {
  const lines = await linesOf(
    "<form action=/s><input name=q><button name=a value=1>One</button>" +
      "<button formmethod=post formaction=/del>Two</button><input type=reset>",
  );
  equal(
    lines,
    "form e1 GET → https://a.example/s\n" +
      '  textbox e2 "q" name "q", value ""\n  submit button e3 "One"\n  submit button e4 "Two"\n' +
      '  button "" (needs a script: does nothing here)\n' +
      "  sending e1 or e3: browser_submit, url https://a.example/s?q=&a=1\n" +
      '  sending e4: browser_post, url https://a.example/del, body "q="',
  );
});

const FORM = "<form action=/s><input name=q maxlength=20><textarea name=t></textarea>" +
  "<input type=checkbox name=c value=y checked><input type=radio name=r value=1 checked><input type=radio name=r value=2>" +
  "<select name=o><option value=1>One<option value=2>Two</select><select name=m multiple><option>a<option>b</select>" +
  "<input name=ro readonly value=1><input type=hidden name=h value=7></form>";

Deno.test("alice fills every kind of field, and the address has to be exactly what they make", async () => {
  const cases: readonly (readonly [fields: object, query: string])[] = [
    [{}, "q=&t=&c=y&r=1&o=1&ro=1&h=7"],
    [{ e2: "a&b=c" }, "q=a%26b%3Dc&t=&c=y&r=1&o=1&ro=1&h=7"],
    [{ e3: "one\ntwo" }, "q=&t=one%0D%0Atwo&c=y&r=1&o=1&ro=1&h=7"],
    [{ e4: false }, "q=&t=&r=1&o=1&ro=1&h=7"],
    [{ e6: true }, "q=&t=&c=y&r=2&o=1&ro=1&h=7"],
    [{ e7: "2" }, "q=&t=&c=y&r=1&o=2&ro=1&h=7"],
    [{ e7: "Two" }, "q=&t=&c=y&r=1&o=2&ro=1&h=7"],
    [{ e8: ["b", "a"] }, "q=&t=&c=y&r=1&o=1&m=a&m=b&ro=1&h=7"],
  ];
  for (const [fields, query] of cases) {
    const url = `https://a.example/s?${query}`;
    const { call, site } = makeBrowser({ [URL_OF_PAGE]: FORM, [url]: "sent" });
    await call("browser_open", { url: URL_OF_PAGE });
    const send = { ref: "e1", snapshot: NEWEST, fields };
    match(
      await call("browser_submit", { ...send, url: `${url}x` }),
      new RegExp(
        `^invalidArguments: .*call again with url "https://a.example/s\\?${
          query.replaceAll("+", "\\+")
        }"$`,
      ),
    );
    equal(site.asked.length, 1);
    match(await call("browser_submit", { ...send, url }), /text: sent$/, url);
    deepEqual([site.asked[1]?.url, site.asked[1]?.method], [url, undefined]);
  }
});

Deno.test("a field takes what it takes, and says so", async () => {
  const cases: readonly (readonly [fields: object, said: RegExp])[] = [
    [{ e2: "x".repeat(21) }, /e2.*at most 20 characters/],
    [{ e2: "a\nb" }, /one line/],
    [{ e2: true }, /takes a text/],
    [{ e4: "yes" }, /true or false/],
    [{ e5: false }, /takes true/],
    [{ e7: "3" }, /no option "3"; its options are "1", "2"$/],
    [{ e7: ["1", "2"] }, /exactly one/],
    [{ e9: "2" }, /read-only/],
    [{ e1: "x" }, /no field of this form/],
    [{ e99: "x" }, /no field of this form/],
    [{ ["__proto__x"]: "x" }, /no field of this form/],
  ];
  const { call, site } = makeBrowser({ [URL_OF_PAGE]: FORM });
  await call("browser_open", { url: URL_OF_PAGE });
  for (const [fields, said] of cases) {
    const answer = await call("browser_submit", {
      ref: "e1",
      snapshot: NEWEST,
      fields,
      url: "https://a.example/s",
    });
    match(answer, said);
    ok(answer.startsWith("invalidArguments: "), answer);
  }
  equal(site.asked.length, 1);
});

Deno.test("no agent types a password, uploads a file, or fills another form's field", async () => {
  const page =
    "<form method=post action=/p><input type=password name=p><input name=o autocomplete=one-time-code>" +
    "<input type=file name=f></form><form><input name=other></form>";
  const lines = await linesOf(page);
  match(lines, /password e2 "p" \(never typed by an agent/);
  match(lines, /password e3 "o" \(never typed by an agent/);
  match(lines, /file e4 "f" \(uploads are not in this version\)/);
  const { call } = makeBrowser({ [URL_OF_PAGE]: page });
  await call("browser_open", { url: URL_OF_PAGE });
  const send = { ref: "e1", snapshot: NEWEST, url: "https://a.example/p", body: "p=hunter2&o=&f=" };
  match(
    await call("browser_post", send),
    /^invalidArguments: .*the form sends something else; call again with body "p=&o=&f="$/,
  );
  match(
    await call("browser_post", { ...send, fields: { e2: "hunter2" } }),
    /^refused: .*which no agent types; ask the person/,
  );
  match(
    await call("browser_post", { ...send, fields: { e3: "123456" } }),
    /^refused: .*no agent types/,
  );
  match(
    await call("browser_post", { ...send, fields: { e4: "/etc/passwd" } }),
    /^refused: .*does not upload files/,
  );
  match(await call("browser_post", { ...send, fields: { e6: "x" } }), /no field of this form/);
});

Deno.test("a post sends exactly the body that was shown, with no more than its type", async () => {
  const page =
    "<form method=post action=/p><input name=a><input type=hidden name=csrf value=xyz></form>";
  const { call, site } = makeBrowser({ [URL_OF_PAGE]: page, "https://a.example/p": "thanks" });
  await call("browser_open", { url: URL_OF_PAGE });
  const send = { ref: "e1", snapshot: NEWEST, url: "https://a.example/p", fields: { e2: "1 2" } };
  match(await call("browser_submit", send), /sent with POST; use browser_post/);
  match(
    await call("browser_post", { ...send, body: "a=1+2" }),
    /call again with body "a=1\+2&csrf=xyz"$/,
  );
  match(
    await call("browser_post", { ...send, url: "https://evil.example/p", body: "a=1+2&csrf=xyz" }),
    /it leads elsewhere/,
  );
  equal(site.asked.length, 1);
  match(await call("browser_post", { ...send, body: "a=1+2&csrf=xyz" }), /text: thanks$/);
  const { method, url, body, headers } = site.asked[1] ?? {};
  deepEqual([method, url, body], ["POST", "https://a.example/p", "a=1+2&csrf=xyz"]);
  deepEqual(Object.keys(headers ?? {}), ["accept", "content-type"]);
  match(await call("browser_post", { ...send, body: "a=1+2&csrf=xyz" }), /^conflict: /);
});

Deno.test("a long body that is wrong is told by the place where it differs", async () => {
  const value = "v".repeat(5_000);
  const { call } = makeBrowser({
    [URL_OF_PAGE]: `<form method=post><input type=hidden name=a value=${value}></form>`,
  });
  const shown = await call("browser_open", { url: URL_OF_PAGE });
  match(shown, /body "a=v+"… \(5002 characters\)\n/);
  const wrong = { ref: "e1", snapshot: NEWEST, url: URL_OF_PAGE, body: `a=${value.slice(1)}w` };
  match(
    await call("browser_post", wrong),
    /body has 5002 characters and differs from character 5001 on: it is "v+" there, and not "v+w"$/,
  );
});

Deno.test("forms that this version cannot send say why", async () => {
  const cases: readonly (readonly [form: string, said: RegExp])[] = [
    ["<form method=post enctype=multipart/form-data>", /it wants multipart\/form-data/],
    ["<form method=post enctype=text/plain>", /it wants text\/plain/],
    ["<form method=dialog>", /closes a dialog/],
    ["<form action=javascript:alert(1)>", /leads to javascript:/],
    ["<form action=mailto:bob@a.example>", /leads to mailto:/],
    [`<form><input name=a value=${"x".repeat(3_000)}>`, /more than 2048 characters/],
  ];
  for (const [form, said] of cases) match(await linesOf(form), said, form);
});

Deno.test("a form's query is what a browser writes, whatever is typed", async () => {
  const url = URL_OF_PAGE;
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary", maxLength: 40 }), async (text) => {
      const { call } = makeBrowser({
        [url]: "<form action=/s><textarea name=t></textarea></form>",
      });
      await call("browser_open", { url });
      const said = await call("browser_submit", {
        ref: "e1",
        snapshot: NEWEST,
        url,
        fields: { e2: text },
      });
      const query = new URLSearchParams([["t", text.replace(/\r\n?|\n/g, "\r\n")]]);
      ok(said.endsWith(`call again with url "https://a.example/s?${query}"`), said);
    }),
    { numRuns: 300 },
  );
});
