import { equal, ok } from "node:assert/strict";
import fc from "fast-check";
import { type Address, formEncoded, parseAddress, readPlace } from "./address.ts";

const base = (url: string): Address => {
  const address = parseAddress(url);
  ok(address !== undefined, url);
  return address;
};
const read = (text: string, from = "https://example.org/a/b?c=d") => {
  const place = readPlace(text, base(from));
  return place.kind === "web" ? place.url : `(${place.what})`;
};

Deno.test("alice's links lead where a browser takes them", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["", "https://example.org/a/b?c=d"],
    ["#top", "https://example.org/a/b?c=d"],
    ["x", "https://example.org/a/x"],
    ["?q=1#f", "https://example.org/a/b?q=1"],
    ["../x/./y/", "https://example.org/x/y/"],
    ["../../../x", "https://example.org/x"],
    ["/x y?a b", "https://example.org/x%20y?a%20b"],
    ["//Other.example", "https://other.example/"],
    ["HTTP://Example.ORG:80/%7Ea", "http://example.org/%7Ea"],
    ["https://example.org:8443", "https://example.org:8443/"],
    ["\t ht\ntps://example.org/é ", "https://example.org/%C3%A9"],
    ["\\x\\y", "https://example.org/x/y"],
    ["a:b", "(a:)"],
  ];
  for (const [text, url] of cases) equal(read(text), url, text);
});

Deno.test("a page at an address of another kind has links, too", () => {
  equal(read("../x?y", "http://[::1]:8080/a/b/c"), "http://[::1]:8080/a/x?y");
  equal(read("/x", "https://xn--bcher-kva.example"), "https://xn--bcher-kva.example/x");
  for (const text of ["ftp://example.org/", "example.org", "https://", ""]) {
    equal(parseAddress(text), undefined);
  }
});

Deno.test("mallory's addresses that lead away from the web are not followed", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["file:///etc/passwd", "(file:)"],
    ["data:text/html,<p>", "(data:)"],
    ["java\nscript:alert(1)", "(javascript:)"],
    [" \u0001JavaScript:alert(1)", "(javascript:)"],
    ["blob:https://example.org/1", "(blob:)"],
    ["view-source:https://example.org/", "(view-source:)"],
  ];
  for (const [text, said] of cases) equal(read(text), said, text);
  const odd = [
    "https://user@example.org/",
    "https://example.org:99999/",
    "http:/example.org",
    "http:///example.org",
    "http://0x7f.1/",
    "http://2130706433/",
    "http://127.1/",
    "http://[::1]/",
    "http://exa%6dple.org/",
    "http://ｅxample.org/",
    "http://a..b/",
    `/${"x".repeat(3_000)}`,
  ];
  for (const text of odd) ok(read(text).startsWith("(an address"), text);
});

Deno.test("an address that is read is the one that a browser reads", () => {
  const piece = fc.constantFrom(
    ...[
      "/",
      "//",
      "\\",
      "..",
      ".",
      "%2e",
      "%2E%2e",
      "?",
      "#",
      ":",
      "@",
      "http:",
      "https://",
      "HTTP://",
    ],
    ...[
      "a",
      "B",
      "é",
      "😀",
      "\ud800",
      " ",
      "\t",
      "'",
      '"',
      "<",
      "{",
      "|",
      "^",
      "`",
      "%",
      "&",
      "=",
      "1.2.3.4",
    ],
    ...[
      "01",
      "0x1",
      "example.org",
      ":80",
      ":443",
      ":0080",
      "-",
      "_",
      "~",
      "[",
      "]",
      ";",
      ",",
      "\u007f",
    ],
  );
  const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(""));
  fc.assert(
    fc.property(
      text,
      fc.constantFrom("https://h.example/a/b?c", "http://h.example:81/"),
      (link, from) => {
        const place = readPlace(link, base(from));
        if (place.kind === "other") return;
        const real = new URL(link, from);
        real.hash = "";
        equal(place.url, real.href);
      },
    ),
    { numRuns: 5_000 },
  );
});

Deno.test("a form's text is encoded as a browser encodes it", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      equal(`${formEncoded(text)}=`, new URLSearchParams([[text, ""]]).toString());
    }),
  );
});
