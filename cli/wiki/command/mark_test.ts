import assert from "node:assert/strict";
import { createPublicKey, verify } from "node:crypto";
import { PageMark, pageMarkText } from "../../../contracts/memory/mod.ts";
import { D, PAGE, rig } from "../_fixture/rig.ts";

Deno.test("sanitize shows all of a page, asks, and signs that very version with the person's key", async () => {
  const ops = {
    page: () => ({ page: PAGE, history: [], backlinks: [] }),
    read: () => ({
      ...{ file: "pages/lease.md", from: 1, to: 2, of: 2, text: "one\ntwo", digest: D },
      ...{ colour: "RED", label: "secret", version: 3 },
    }),
    mark: () => ({ ...PAGE, colour: "YELLOW" }),
  };
  const at = await rig({ ops, types: ["yes"] });
  assert.equal(await at.run("sanitize", "lease", "--colour", "YELLOW"), 0);
  assert.match(at.said(), /1 │ one\n.*2 │ two/);
  const mark = PageMark.parse(at.asked("mark")[0]);
  assert.deepEqual([mark.digest, mark.colour, mark.label], [D, "YELLOW", "secret"]);
  assert.ok(at.wikis.seen.started.at(-1)?.trustedKeys.includes(mark.key));
  const key = createPublicKey({
    key: { kty: "OKP", crv: "Ed25519", x: mark.key },
    format: "jwk",
  });
  const { key: _key, signature, ...unsigned } = mark;
  assert.ok(
    verify(null, Buffer.from(pageMarkText(unsigned)), key, Buffer.from(signature, "base64url")),
  );

  const nobody = await rig({ ops });
  assert.equal(await nobody.run("redact", "lease", "--label", "public"), 64);
  const no = await rig({ ops, types: ["no"] });
  assert.equal(await no.run("redact", "lease", "--label", "public"), 64);
  assert.equal(await no.run("sanitize", "lease", "--colour", "RED"), 2);
  assert.equal(nobody.asked("mark").length + no.asked("mark").length, 0);
  const moved = await rig({
    types: ["yes"],
    ops: { ...ops, read: () => ({ ...ops.read(), digest: "b".repeat(64) }) },
  });
  assert.equal(await moved.run("sanitize", "lease", "--colour", "BLUE"), 1);
});
