import assert from "node:assert/strict";
import { Fault } from "../../contracts/base/mod.ts";
import { makeDisk } from "../../launch/disk/disk_powers.ts";
import { openTokens, type Tokens } from "./token_book.ts";

const isFault = (code: string) => (error: unknown): boolean =>
  error instanceof Fault && error.code === code;

async function withTokens(f: (tokens: Tokens, file: string) => void): Promise<void> {
  const person = await Deno.makeTempDir({ prefix: "remit-test-" });
  try {
    f(openTokens({ disk: makeDisk(), places: { person } }), `${person}/mcp_tokens.json`);
  } finally {
    await Deno.remove(person, { recursive: true });
  }
}

const ALICE = { id: "m1", name: "alice", profile: "guest", createdAt: 1 } as const;

Deno.test("a token is known by itself, and no token is kept", async () => {
  await withTokens((tokens, file) => {
    const token = tokens.create(ALICE, "S".repeat(43));
    assert.equal(token, `remit_mcp_${"S".repeat(43)}`);
    assert.deepEqual(tokens.tryHolder(token), { holder: "m1", profile: "guest" });
    const text = Deno.readTextFileSync(file);
    assert.ok(!text.includes("SSS"));
    assert.equal((Deno.statSync(file).mode ?? 0) & 0o777, 0o600);
  });
});

Deno.test("another token, a part of one and the hash of one are nobody's", async () => {
  await withTokens((tokens) => {
    const token = tokens.create(ALICE, "S".repeat(43));
    const [kept] = tokens.list();
    for (
      const wrong of ["", token.slice(1), `${token} `, kept?.sha256 ?? "", token.toUpperCase()]
    ) {
      assert.equal(tokens.tryHolder(wrong), undefined, wrong);
    }
  });
});

Deno.test("a revoked token is nobody's at once, and a name is taken once", async () => {
  await withTokens((tokens) => {
    const token = tokens.create(ALICE, "S".repeat(43));
    assert.throws(
      () => tokens.create({ ...ALICE, id: "m2" }, "T".repeat(43)),
      isFault("alreadyExists"),
    );
    assert.equal(tokens.revoke("alice").id, "m1");
    assert.equal(tokens.tryHolder(token), undefined);
    assert.throws(() => tokens.revoke("alice"), isFault("notFound"));
  });
});

Deno.test("a file of tokens that others can read is refused", async () => {
  await withTokens((tokens, file) => {
    tokens.create(ALICE, "S".repeat(43));
    Deno.chmodSync(file, 0o644);
    assert.throws(() => tokens.list(), isFault("refused"));
  });
});
