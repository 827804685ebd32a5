import assert from "node:assert/strict";
import { readCookiesTxt } from "./cookies_txt.ts";

const NOW = Date.UTC(2026, 0, 1), LATER = NOW / 1_000 + 60;
const SHOP = "https://shop.example.org", LOGIN = "https://login.example.org";
const line = (...fields: readonly (string | number)[]): string => fields.join("\t");
const read = (...lines: readonly string[]) => readCookiesTxt(lines.join("\n"), [SHOP, LOGIN], NOW);

Deno.test("cookies of the profile's origins are taken, each bound to one, and the rest is counted", () => {
  const { cookies, others, unfit } = read(
    "# Netscape HTTP Cookie File",
    line("#HttpOnly_shop.example.org", "FALSE", "/", "TRUE", LATER, "sid", "a b"),
    line(".example.org", "TRUE", "/", "TRUE", 0, "both", "1"),
    line("example.org", "FALSE", "/", "TRUE", LATER, "not-ours", "1"),
    line(".evil.test", "TRUE", "/", "FALSE", LATER, "x", "secret-of-another"),
    line("bank.example.com", "FALSE", "/", "TRUE", LATER, "y", "1"),
    line("xshop.example.org", "TRUE", "/", "TRUE", LATER, "z", "1"),
    line("shop.example.org", "FALSE", "/", "TRUE", LATER - 120, "old", "1"),
    line("shop.example.org", "FALSE", "no-path", "TRUE", LATER, "odd", "1"),
    "",
  );
  assert.deepEqual(
    cookies.map(({ name, origin, httpOnly, shared }) => [name, origin, httpOnly, shared]),
    [
      ["sid", SHOP, true, false],
      ["both", SHOP, false, false],
      ["both", LOGIN, false, false],
    ],
  );
  assert.deepEqual([cookies[0]?.value, cookies[0]?.expiresAt], ["a b", LATER * 1_000]);
  assert.equal(cookies[1]?.expiresAt, undefined);
  assert.deepEqual([others, unfit], [{ cookies: 4, hosts: 4 }, 2]);
});

Deno.test("what is no cookies.txt is refused by its line, and nothing of it is repeated", () => {
  for (const wrong of ["sid=hidden-value", "a\tb\tc", line(...Array(8).fill("hidden-value"))]) {
    assert.throws(
      () => read("# fine", wrong),
      (error: Error) =>
        /^Cannot read the cookies: line 2 /.test(error.message) &&
        !error.message.includes("hidden"),
    );
  }
  const many = Array.from(
    { length: 257 },
    (_, n) => line("shop.example.org", "FALSE", "/", "TRUE", LATER, `c${n}`, "1"),
  );
  assert.throws(() => read(...many), /there are 257/);
});
