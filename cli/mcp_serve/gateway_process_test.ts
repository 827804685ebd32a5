import assert from "node:assert/strict";
import { serveLine } from "./gateway_process.ts";

const PARTS = {
  programs: { deno: "/bin/deno" },
  bundle: "/cache/gateway.js",
  denoDir: "/cache/deno",
  listen: undefined,
  namespace: (bwrap: string, _deno: string, _env: object, sharing: readonly string[] = []) => [
    bwrap,
    ...sharing,
  ],
  inside: { deno: "/deno", denoDir: "/dd" },
};
const LISTEN = { hostname: "127.0.0.1", port: 7431 };

Deno.test("over a pipe the gateway has no permission at all", () => {
  const { args, env } = serveLine(PARTS);
  assert.deepEqual(args.filter((each) => each.startsWith("--allow")), []);
  for (const name of ["read", "write", "net", "run", "sys", "ffi", "import"]) {
    assert.ok(args.includes(`--deny-${name}`), name);
  }
  assert.deepEqual(Object.keys(env).sort(), ["DENO_DIR", "DENO_NO_UPDATE_CHECK", "NO_COLOR"]);
});

Deno.test("over HTTP it has its listen address and nothing else", () => {
  const { args } = serveLine({ ...PARTS, listen: LISTEN });
  assert.deepEqual(args.filter((each) => each.startsWith("--allow")), [
    "--allow-net=127.0.0.1:7431",
  ]);
  const six = serveLine({ ...PARTS, listen: { hostname: "::1", port: 1 } });
  assert.ok(six.args.includes("--allow-net=[::1]:1"));
});

Deno.test("in a namespace it shares the network only where it listens", () => {
  const programs = { deno: "/bin/deno", bwrap: "/bin/bwrap" };
  assert.ok(!serveLine({ ...PARTS, programs }).args.includes("--share-net"));
  assert.ok(serveLine({ ...PARTS, programs, listen: LISTEN }).args.includes("--share-net"));
});
