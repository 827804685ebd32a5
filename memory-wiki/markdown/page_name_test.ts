import assert from "node:assert/strict";
import fc from "fast-check";
import { PageName } from "../../contracts/memory/mod.ts";
import { linkKey, pageNameOf, suffixed } from "./page_name.ts";

const anyText = fc.string({ unit: "binary", maxLength: 300 });

Deno.test("any title gives a name that is one file beneath pages/", () => {
  fc.assert(fc.property(anyText, (title) => {
    const name = pageNameOf(title);
    assert.equal(PageName.safeParse(name).success, true);
    assert.ok(new TextEncoder().encode(`${name}.md`).length <= 255);
    assert.equal(pageNameOf(name), name);
  }));
});

Deno.test("mallory's titles that are paths, hidden files or devices end harmless", () => {
  const cases: Record<string, string> = {
    "../../etc/passwd": "etc-passwd",
    "..": pageNameOf(".."),
    "/abs/olute": "abs-olute",
    "C:\\Windows\\System32": "c-windows-system32",
    ".git/config": "git-config",
    "a\0b": "a-b",
    "a\nb": "a-b",
    "a\0\u0301\0b": "a-b",
    "\u0301-\u0301-a-\u0301": "a",
    "lease\u202egnp.exe": "leasegnp-exe",
    "CON": "con-page",
    "index": "index-page",
    "%2e%2e%2f": "2e-2e-2f",
  };
  for (const [title, name] of Object.entries(cases)) assert.equal(pageNameOf(title), name);
  assert.match(pageNameOf(".."), /^page-[0-9a-f]{8}$/);
  assert.notEqual(pageNameOf("!!!"), pageNameOf("???"));
});

Deno.test("titles of any script keep their letters, and C, C++ and C# differ", () => {
  assert.equal(pageNameOf("Zugriffs­kontrolle für Gäste"), "zugriffskontrolle-für-gäste");
  assert.equal(pageNameOf("リース とは？"), "リース-とは");
  assert.equal(pageNameOf("नमस्ते दुनिया"), "नमस्ते-दुनिया");
  assert.equal(new Set(["C", "C++", "C#"].map(pageNameOf)).size, 3);
  assert.equal([...pageNameOf("漢".repeat(500))].length, 60);
});

Deno.test("a link finds its page by name, title, path or other spelling", () => {
  const key = linkKey("Access Control");
  for (
    const target of [
      "access-control",
      "access control",
      "pages/access-control.md",
      "./pages/Access-Control.md#Rules",
      "ACCESS_CONTROL",
    ]
  ) {
    assert.equal(linkKey(target), key);
  }
  assert.notEqual(linkKey("access"), key);
});

Deno.test("a suffixed name is a name of its own, however long the first was", () => {
  fc.assert(fc.property(anyText, anyText, (title, suffix) => {
    const [plain, name] = [pageNameOf(title), suffixed(pageNameOf(title), suffix)];
    assert.equal(PageName.safeParse(name).success, true);
    assert.notEqual(name, plain);
    assert.ok(new TextEncoder().encode(`${name}.md`).length <= 255);
  }));
});
