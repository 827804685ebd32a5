import assert from "node:assert/strict";
import { join } from "node:path";
import { type Json, toJson } from "../../contracts/base/mod.ts";
import { profileClaim, ProfileGrant, type ProfileStanding } from "../../contracts/policy/mod.ts";
import { fakeKeyboard, fakePowers, runCommandLine } from "../_fixture/world.ts";

const ENTRY = { agent: "shopper", origins: ["https://shop.example.org"], days: 7 };

/** alice's machine, where remit.yaml has one profile, and a kernel that keeps what it is told. */
async function machine(keys: readonly string[] | undefined = undefined, entry: object = ENTRY) {
  let kept: ProfileStanding[] = [];
  const keyboard = keys === undefined ? {} : { keyboard: fakeKeyboard(keys) };
  const powers = fakePowers({
    ...keyboard,
    ops: {
      profiles(body): Json {
        const asked = body as { do: string; grant?: unknown; cookies?: readonly Json[] };
        if (asked.do === "approve") {
          kept = [{ grant: ProfileGrant.parse(asked.grant), cookies: [] }];
          return toJson(kept[0]);
        }
        if (asked.do === "import" || asked.do === "forget") return { cookies: 3 };
        return toJson(kept);
      },
    },
  });
  const folder = join(powers.root, ".config", "remit");
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(
    join(folder, "remit.yaml"),
    JSON.stringify({
      version: 1,
      browser: { engine: "static", profiles: { shop: entry } },
    }),
  );
  const run = async (...argv: string[]) => {
    powers.screen.outs.length = powers.screen.lines.length = 0;
    const code = await runCommandLine(["browser", ...argv], powers);
    const said = powers.screen.lines.join("\n"), out = powers.screen.outs.join("");
    return { code, out, said, asked: powers.kernels_.last?.asked.at(-1) };
  };
  return { run, powers, keep: (standing: ProfileStanding) => void (kept = [standing]) };
}

Deno.test("approve shows agent, origins and end, and signs exactly what was shown after a yes", async () => {
  const { run } = await machine(["y"]);
  const { code, out, said, asked } = await run("approve", "shop");
  assert.equal(code, 0, said);
  for (const part of ["shopper", "https://shop.example.org", "(7 days)", "acts there as you"]) {
    assert.ok(said.includes(part), part);
  }
  assert.match(out, /^approved shop until/);
  const [op, body] = asked ?? [];
  const { grant, signature } = body as unknown as { grant: ProfileGrant; signature: string };
  assert.deepEqual([op, grant.agent, grant.origins], ["profiles", ENTRY.agent, ENTRY.origins]);
  assert.equal(grant.expiresAt - grant.approvedAt, 7 * 86_400_000);
  assert.match(signature, /^[A-Za-z0-9_-]{86}$/);
  assert.deepEqual(profileClaim(grant, "k")["kernel"], "k");
});

Deno.test("without a terminal, and with any other word than yes, nothing is approved", async () => {
  const silent = await (await machine()).run("approve", "shop");
  assert.notEqual(silent.code, 0);
  assert.match(silent.said, /at a terminal/);
  for (const word of ["", "n", "yess"]) {
    const { code, asked } = await (await machine([word])).run("approve", "shop");
    assert.notEqual(code, 0);
    assert.deepEqual(asked, ["profiles", { do: "list" }]);
  }
  const unknown = await (await machine(["y"])).run("approve", "bank");
  assert.match(unknown.said, /write it into remit.yaml/);
});

Deno.test("list says what was changed since, what expired, and what remit.yaml does not have any more", async () => {
  const { run, powers, keep } = await machine();
  const now = powers.environment.now();
  const grant = ProfileGrant.parse({
    ...{ ...ENTRY, name: "shop", approvedAt: now - 1, expiresAt: now + 1_000_000 },
  });
  assert.match((await run("list")).out, /shop .* not approved/);
  for (
    const [changes, state] of [
      [{}, /shop .* approved/],
      [{ origins: ["https://other.example.org"] }, /changed since it was approved/],
      [{ agent: "reader" }, /changed since it was approved/],
      [{ expiresAt: now - 1 }, /expired/],
    ] as const
  ) {
    keep({ grant: ProfileGrant.parse({ ...grant, ...changes }), cookies: [] });
    assert.match((await run("list")).out, state);
  }
  keep({ grant: ProfileGrant.parse({ ...grant, name: "gone" }), cookies: [] });
  const { out } = await run("list");
  assert.match(out, /gone .* not in remit.yaml/);
  const { value: _value, ...bare } = {
    ...{
      origin: "https://shop.example.org",
      shared: false,
      name: "sid",
      value: "",
      path: `/${"x"}`,
    },
    ...{ secure: true, httpOnly: true, sameSite: "lax" as const, createdAt: 1 },
  };
  keep({ grant, cookies: [bare] });
  const shown = await run("show", "shop");
  assert.match(shown.out, /sid +https:\/\/shop.example.org +\/x +Secure HttpOnly SameSite=lax/);
});

Deno.test("an entry that could send cookies in the clear, or twice, is no configuration", async () => {
  for (
    const wrong of [
      ...["http://shop.example.org", "https://shop.example.org/", "https://*.example.org"],
      ...["shop.example.org", "https://SHOP.example.org", "https://shop.example.org:443"],
    ]
  ) {
    const { run } = await machine(undefined, { ...ENTRY, origins: [wrong] });
    const { code, said } = await run("list");
    assert.notEqual(code, 0, wrong);
    assert.match(said, /no origin of a profile/, wrong);
  }
  const { run } = await machine(undefined, { ...ENTRY, days: 366 });
  assert.notEqual((await run("list")).code, 0);
});

Deno.test("import says what it left out, and needs an approval", async () => {
  const { run, powers, keep } = await machine();
  const file = join(powers.root, "cookies.txt");
  await Deno.writeTextFile(
    file,
    "shop.example.org\tFALSE\t/\tTRUE\t0\tsid\tvalue-of-alice\nevil.test\tFALSE\t/\tTRUE\t0\tx\t1\n",
  );
  assert.match((await run("import", "shop", file)).said, /nobody approved it/);
  const now = powers.environment.now();
  keep({
    grant: ProfileGrant.parse({ ...ENTRY, name: "shop", approvedAt: now, expiresAt: now + 1e6 }),
    cookies: [],
  });
  const { out, said } = await run("import", "shop", file);
  assert.match(out, /imported 1 cookies into shop\nleft out 1 of 1 other hosts/);
  assert.ok(!(out + said).includes("value-of-alice"));
  assert.match((await run("import", "shop", `${file}.no`)).said, /there is no such file/);
  assert.match((await run("forget", "shop")).out, /forgot shop: its approval and 3 cookies/);
});
