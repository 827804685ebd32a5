/** The environment of build programs: folders, and access to the network. @module */

const KEPT =
  /^(PATH|HOME|USER|LOGNAME|TMPDIR|TMP|TEMP|LANG|LC_[A-Z]+|XDG_[A-Z]+_HOME|DENO_(DIR|CERT|TLS_CA_STORE)|(NPM_CONFIG|npm_config)_(REGISTRY|registry|USERCONFIG|userconfig)|(HTTPS?|NO|ALL)_PROXY|(https?|no|all)_proxy|(NIX_)?SSL_CERT_(FILE|DIR)|NODE_EXTRA_CA_CERTS)$/;

/** The part of a person's environment for a build. Exported API keys, which a build does not need, are not in it. */
export function buildEnv(env: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(env).filter(([name]) => KEPT.test(name));
  return {
    ...Object.fromEntries(kept),
    ...{ NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
    // Otherwise Deno writes the names in an installed package's package.json into deno.lock.
    DENO_NO_PACKAGE_JSON: "1",
  };
}
