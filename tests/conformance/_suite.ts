/** Runs the official conformance suite and reads what it found. */
import * as z from "zod";

/** The suite, exactly. */
const SUITE = "npm:@modelcontextprotocol/conformance@0.2.0-alpha.11";

const Check = z.object({
  id: z.string(),
  status: z.enum(["SUCCESS", "FAILURE", "WARNING", "SKIPPED", "INFO"]),
  errorMessage: z.string().optional(),
});

/** One check of one scenario. */
export interface Found {
  readonly scenario: string;
  readonly id: string;
  readonly status: z.infer<typeof Check>["status"];
  readonly why: string;
}

/**
 * Runs it with these words and gives every check.
 * @throws when the package cannot be fetched, or it ran nothing
 */
export async function runSuite(
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<readonly Found[]> {
  await fetchSuite();
  const out = await Deno.makeTempDir({ prefix: "remit-test-conformance-" });
  try {
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-lock", "--no-config", SUITE, ...words, "--output-dir", out],
      env: { ...env },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).output();
    const found = await readOut(out);
    if (found.length > 0) return found;
    const said = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes).slice(-2_000));
    throw new Error(`The conformance suite ran nothing:\n${said.join("\n")}`);
  } finally {
    await Deno.remove(out, { recursive: true });
  }
}

async function fetchSuite(): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["cache", "--no-lock", "--no-config", SUITE],
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  if (success) return;
  throw new Error(
    `Cannot fetch the conformance suite (${SUITE}): it needs the npm registry once, and is kept then\n` +
      new TextDecoder().decode(stderr).slice(-1_000),
  );
}

async function readOut(folder: string): Promise<readonly Found[]> {
  const found: Found[] = [];
  const read = async (path: string, scenario: string): Promise<void> => {
    for await (const { name, isDirectory } of Deno.readDir(path)) {
      // server-NAME-2026-11-22T12-36-38-068Z
      const of = name.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, "");
      if (isDirectory) await read(`${path}/${name}`, scenario === "" ? of : `${scenario}/${of}`);
      if (name !== "checks.json") continue;
      const checks = z.array(Check).parse(JSON.parse(await Deno.readTextFile(`${path}/${name}`)));
      found.push(...checks.map(({ id, status, errorMessage = "" }) => ({
        ...{ scenario, id, status },
        why: errorMessage,
      })));
    }
  };
  await read(folder, "");
  return found;
}

/** What a scenario is known to fail, and why: in docs/mcp_conformance.md as well. */
export interface Allowed {
  readonly scenario: RegExp;
  readonly why: string;
}

/** Lines that say what differs from what is allowed: a failure that is not, or an allowance that nothing needs. */
export function differences(
  found: readonly Found[],
  allowed: readonly Allowed[],
): readonly string[] {
  const failed = found.filter(({ status }) => status === "FAILURE" || status === "WARNING");
  const unexplained = failed.filter(({ scenario }) =>
    !allowed.some((each) => each.scenario.test(scenario))
  );
  const idle = allowed.filter((each) =>
    !failed.some(({ scenario }) => each.scenario.test(scenario))
  );
  return [
    ...unexplained.map(({ scenario, id, status, why }) => `${status} ${scenario} ${id}: ${why}`),
    ...idle.map(({ scenario }) => `allowed, and nothing fails: ${scenario}`),
  ];
}
