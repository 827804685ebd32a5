/** A foreign agent on a person's machine, and its provider, on loopback. */
import type { Machine } from "./remit.ts";
import { readRun } from "./run_document.ts";

/** A provider that records its requests. */
export interface LoopbackProvider extends AsyncDisposable {
  readonly origin: string;
  readonly asked: { readonly target: string; readonly headers: Headers; readonly body: string }[];
}

/** Starts a provider; `answer` gives its answers. */
export function startProvider(
  answer: (target: string, body: string) => Response = () =>
    Response.json({ content: "hello", usage: { input_tokens: 7, output_tokens: 3 } }),
): LoopbackProvider {
  const asked: LoopbackProvider["asked"][number][] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { pathname, search } = new URL(request.url);
    const body = await request.text();
    asked.push({ target: `${pathname}${search}`, headers: request.headers, body });
    return answer(`${pathname}${search}`, body);
  });
  return {
    origin: `http://127.0.0.1:${server.addr.port}`,
    asked,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** The key that only the relay may know; the agent is told it backwards. */
export const AGENT_KEY = "sk-only-the-relay-knows-0417";

/** Adds the agent of tests/fake/foreign_agent, and keeps its key. */
export async function addForeign(
  machine: Machine,
  { origin }: Pick<LoopbackProvider, "origin">,
  more: readonly string[] = [],
): Promise<void> {
  const tree = `${machine.dir}/../agent`;
  await Deno.mkdir(tree, { recursive: true });
  await Deno.copyFile(new URL("./foreign_agent/agent.js", import.meta.url), `${tree}/agent.js`);
  const kept = await machine.remit([
    ...["secret", "set", "mine", "--origin", origin],
    ...["--header", "authorization", "--prefix", "Bearer "],
  ], `${AGENT_KEY}\n`);
  if (kept.code !== 0) throw new Error(kept.stderr);
  const added = await machine.remit([
    ...["agent", "add", "--name", "fake", "--from", tree, "--wire", "openai"],
    ...["--provider", origin, "--secret", "mine", "--env", "BASE_URL=${BASE}"],
    ...more,
    ...["--", "/usr/bin/env", "DENO_NO_UPDATE_CHECK=1", Deno.execPath()],
    ...["run", "--quiet", "--no-config", "--allow-all", "${TREE}/agent.js"],
  ]);
  if (added.code !== 0) throw new Error(added.stderr);
}

/** The outcome of a run. */
export interface ForeignRun {
  readonly code: number;
  readonly task: string;
  readonly answer: string;
  /** The output of `--json`. */
  readonly document: string;
  readonly output: string;
}

/** Gives the agent one request, one step a line; changes are allowed where `allow` names them. */
export async function handOver(
  machine: Machine,
  steps: readonly string[],
  { allow, more = [] }: { readonly allow?: string; readonly more?: readonly string[] } = {},
): Promise<ForeignRun> {
  const answers = await machine.write(
    "../answers.json",
    JSON.stringify({
      answers: [
        { tool: "command", answer: "allow", max: 1 },
        ...(allow === undefined
          ? []
          : [{ tool: "patch_apply", path: allow, answer: "allow", max: 1 }]),
      ],
    }),
  );
  const done = await machine.remit([
    ...["run", "--agent", "fake", "-p", steps.join("\n"), "--mount", `plans=${machine.dir}/plans`],
    ...["--answers", answers, "--json", ...more],
  ]);
  const run = readRun(done.stdout);
  return {
    ...{ code: done.code, task: run.task, answer: run.answer ?? "", document: done.stdout },
    output: `${done.stderr}\n${done.stdout}`,
  };
}
