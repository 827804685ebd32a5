import { equal } from "node:assert/strict";
import { Digest } from "../../contracts/authority/mod.ts";
import { sha256Hex } from "../../port/digest.ts";
import { openContentStore } from "./mod.ts";

Deno.test("a person's yes and a person's mark are told apart: a file's mark lifts no result", () => {
  const dir = Deno.makeTempDirSync();
  try {
    const store = openContentStore(`${dir}/contents.db`);
    const digest = Digest.parse(sha256Hex("a letter of a stranger"));
    const from = { colour: "RED", label: "secret" } as const;
    store.record([{ digest, bytes: 22, ...from, sanitized: "YELLOW" }]);
    equal(store.signed("file", digest), undefined, "a yes to a patch is no mark");
    equal(store.signed("result", digest), undefined);
    store.sanitize({ kind: "file", digest, bytes: 22, from, to: "BLUE" });
    equal(store.signed("file", digest), "BLUE");
    equal(store.signed("result", digest), undefined);
    equal(store.of([digest]).colour, "BLUE");
    equal(store.of([digest]).label, "secret");
    const other = Digest.parse(sha256Hex("another letter of a stranger"));
    store.record([{ digest: other, bytes: 28, ...from }]);
    store.sanitize({ kind: "result", digest: other, bytes: 28, from, to: "YELLOW" });
    equal(store.of([other]).colour, "RED", "a result's mark lifts no file");
    equal(store.of([digest, other]).colour, "RED");
    store.mark(digest, from);
    equal(
      store.signed("file", digest),
      undefined,
      "a person's word that it is worse ends the mark",
    );
    equal(store.of([digest]).colour, "RED");
    store.close();
    const again = openContentStore(`${dir}/contents.db`);
    equal(again.signed("result", other), "YELLOW");
    again.close();
  } finally {
    Deno.removeSync(dir, { recursive: true });
  }
});
