import assert from "node:assert/strict";
import { buildEnv } from "./build_env.ts";

Deno.test("what alice exported for her models is not a builder's, and where things lie is", () => {
  const kept = {
    PATH: "/bin",
    HOME: "/home/alice",
    XDG_CACHE_HOME: "/c",
    HTTPS_PROXY: "p",
    NODE_EXTRA_CA_CERTS: "c",
  };
  const keys = { ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k", MY_TOKEN: "k", HOMEPASS: "k" };
  assert.deepEqual(buildEnv({ ...kept, ...keys }), {
    ...kept,
    ...{ NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", DENO_NO_PACKAGE_JSON: "1" },
  });
});
