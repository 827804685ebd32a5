import { deepEqual, equal, notEqual, rejects } from "node:assert/strict";
import { isFault, makeInService, named } from "./_fixture/parts.ts";
import { reply, startSite } from "./_fixture/site.ts";
import { headersTrouble } from "./request_headers.ts";

const REFUSED: Readonly<Record<string, string>> = {
  Host: "inside.example",
  host: "x",
  Connection: "keep-alive",
  "Content-Length": "5",
  "Transfer-Encoding": "chunked",
  Upgrade: "h2c",
  "HTTP2-Settings": "x",
  "Proxy-Authorization": "x",
  "Proxy-Connection": "x",
  "Sec-Fetch-Site": "x",
  TE: "trailers",
  Trailer: "x",
  Cookie: "a=b",
  "Set-Cookie": "a=b",
  Referer: "https://desk.example/plan",
  Origin: "x",
  "User-Agent": "x",
  "Accept-Encoding": "zstd",
  Expect: "100-continue",
  Via: "x",
  Forwarded: "for=127.0.0.1",
  "X-Forwarded-For": "127.0.0.1",
  "X-Forwarded-Host": "x",
  "X-HTTP-Method-Override": "DELETE",
  "X-Original-URL": "/admin",
  ":authority": "x",
  "": "x",
  "a b": "x",
  "a:b": "x",
  "a\r\nb": "x",
  "ä": "x",
  "x-crlf": "a\r\nHost: inside.example",
  "x-lf": "a\nb",
  "x-nul": "a\0b",
  "x-umlaut": "ä",
  "x-space": " a",
  "x-tab": "a\t",
  "x-long": "a".repeat(8_193),
};

for (const [name, value] of Object.entries(REFUSED)) {
  Deno.test(`header ${JSON.stringify(name.slice(0, 40))} is not sent`, () => {
    notEqual(headersTrouble({ [name]: value }), undefined);
  });
}

Deno.test("ordinary headers are sent as they are, and only once each", () => {
  const fine = {
    Accept: "text/html",
    Authorization: "Bearer a.b-c",
    "X-Api-Key": "",
    Range: "bytes=0-9",
  };
  equal(headersTrouble(fine), undefined);
  notEqual(headersTrouble({ "x-a": "1", "X-A": "2" }), undefined);
  const many = Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`x-${n}`, "a"]));
  notEqual(headersTrouble(many), undefined);
  const wide = Object.fromEntries(["x-a", "x-b", "x-c"].map((name) => [name, "a".repeat(8_000)]));
  notEqual(headersTrouble(wide), undefined);
});

Deno.test("the service judges headers, method and body again, before anything is sent", async () => {
  await using site = startSite(() => reply(200));
  const service = makeInService();
  const request = { url: `${site.origin}/`, allow: named(site.origin) };
  await rejects(service.ask({ ...request, headers: { cookie: "a=b" } }), isFault("refused"));
  await rejects(service.ask({ ...request, body: "x" }), isFault("refused"));
  await rejects(
    service.ask({ ...request, method: "TRACE" as "GET" }),
    isFault("refused", "method"),
  );
  await rejects(
    service.ask({ ...request, method: "POST", body: "äö", requestBytes: 3 }),
    isFault("tooLarge"),
  );
  deepEqual(site.seen, []);
});

Deno.test("a body is sent as UTF-8 with its length, and a POST without one says so", async () => {
  await using site = startSite(() => reply(200));
  const service = makeInService();
  const request = { url: `${site.origin}/`, allow: named(site.origin), method: "POST" } as const;
  await service.ask({ ...request, body: "äö" });
  await service.ask({ ...request, body: "{}", headers: { "Content-Type": "application/json" } });
  await service.ask(request);
  deepEqual(
    site.seen.map((
      { body, headers },
    ) => [body, headers["content-length"], headers["content-type"]]),
    [
      ["äö", "4", "text/plain;charset=UTF-8"],
      ["{}", "2", "application/json"],
      ["", "0", undefined],
    ],
  );
});
