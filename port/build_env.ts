/** The environment of programs that build for us: where things lie and how the network is reached. @module */

const KEPT =
  /^(PATH|HOME|USER|LOGNAME|TMPDIR|TMP|TEMP|LANG|LC_[A-Z]+|XDG_[A-Z]+_HOME|DENO_(DIR|CERT|TLS_CA_STORE)|(NPM_CONFIG|npm_config)_(REGISTRY|registry|USERCONFIG|userconfig)|(HTTPS?|NO|ALL)_PROXY|(https?|no|all)_proxy|(NIX_)?SSL_CERT_(FILE|DIR)|NODE_EXTRA_CA_CERTS)$/;

/**
 * What a builder is given of a person's environment: no key that they exported, for which a build has
 * no use.
 */
export function buildEnv(env: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(env).filter(([name]) => KEPT.test(name));
  return {
    ...Object.fromEntries(kept),
    ...{ NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
    // Deno would write what an installed package's own package.json names into deno.lock.
    DENO_NO_PACKAGE_JSON: "1",
  };
}
