/**
 * An agent of others within its walls, beside the same agent without them: over one provider on the loopback, in turns,
 * so that a busy machine is as busy for both. The provider takes as long for an answer as a quick model does.
 * @module
 */
import { addForeign } from "../tests/fake/foreign_agent.ts";
import { type Machine, onMachine } from "../tests/fake/remit.ts";
import { alicesPlans } from "../tests/fake/scenes.ts";
import { memoryOf } from "./_memory.ts";
import { median } from "./quantile.ts";
import { atMost, type Row, shown } from "./row.ts";

const ROUNDS = 5;
const TURNS = 10;
/** Milliseconds in which the provider answers. */
const ANSWER_MS = 400;
/** Megabytes beside it that walls may cost. */
const OURS_MB = 120;
const ASK = 'ask POST /v1/responses {"model":"m","max_output_tokens":9,"input":[]}';

/** A provider that notes when it was asked, and holds its answer. */
function startTimed(): AsyncDisposable & { readonly origin: string; readonly asked: number[] } {
  const asked: number[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    asked.push(performance.now());
    await request.text();
    // TIMER: a model's time for an answer.
    await new Promise((resolve) => setTimeout(resolve, ANSWER_MS));
    return Response.json({ usage: { input_tokens: 7, output_tokens: 3 } });
  });
  return {
    origin: `http://127.0.0.1:${server.addr.port}`,
    asked,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

interface Took {
  /** Milliseconds until its provider was asked first, and between two of its requests. */
  readonly start: number;
  readonly turn: number;
}

function took(began: number, asked: readonly number[]): Took {
  const [first = NaN] = asked, last = asked.at(-1) ?? NaN;
  if (asked.length !== TURNS) throw new Error(`Cannot time it: it asked ${asked.length} times`);
  return { start: first - began, turn: (last - first) / (asked.length - 1) };
}

/** The agent as an editor starts it. */
async function bare(machine: Machine, origin: string, asked: number[]): Promise<Took> {
  asked.length = 0;
  const began = performance.now();
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-config", "--allow-all", `${machine.dir}/../agent/agent.js`],
    cwd: `${machine.dir}/plans`,
    env: { ...machine.env, BASE_URL: origin },
    ...{ clearEnv: true, stdin: "piped", stdout: "piped", stderr: "null" },
  }).spawn();
  const input = child.stdin.getWriter();
  const send = (id: number, method: string, params: unknown): Promise<void> =>
    input.write(
      new TextEncoder().encode(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`),
    );
  await send(1, "initialize", { protocolVersion: 1 });
  await send(2, "session/new", { cwd: `${machine.dir}/plans`, mcpServers: [] });
  await send(3, "session/prompt", { prompt: [{ type: "text", text: steps().join("\n") }] });
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    if (text.includes("end_turn")) break;
  }
  child.kill("SIGKILL");
  await child.status;
  return took(began, asked);
}

const steps = (): readonly string[] => Array.from({ length: TURNS }, () => ASK);

interface Within extends Took {
  /** Megabytes: the relay and the client, and the walls around them. */
  readonly ours: number;
}

async function within(
  machine: Machine,
  mount: readonly string[],
  asked: number[],
): Promise<Within> {
  asked.length = 0;
  const began = performance.now();
  const running = machine.start([
    ...["run", "--agent", "fake", "-p", steps().join("\n"), ...mount, "--json"],
  ]);
  // TIMER: looks when it is at work.
  while (asked.length < 3) await new Promise((resolve) => setTimeout(resolve, 20));
  const ours = await memoryOfOurs(machine);
  const { code, stderr } = await running.done;
  if (code !== 0) throw new Error(`Cannot time it: ${stderr}`);
  return { ...took(began, asked), ours };
}

async function commandLines(): Promise<readonly { pid: number; ppid: number; line: string }[]> {
  const found = [];
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const line = await Deno.readTextFile(`/proc/${name}/cmdline`).catch(() => "");
    const stat = await Deno.readTextFile(`/proc/${name}/stat`).catch(() => "");
    const ppid = Number(/\) \S (\d+)/.exec(stat)?.[1] ?? 0);
    found.push({ pid: Number(name), ppid, line: line.replaceAll("\0", " ") });
  }
  return found;
}

/** Of the trees that a run starts, without the agent's own. */
async function memoryOfOurs(machine: Machine): Promise<number> {
  const root = machine.dir.slice(0, machine.dir.lastIndexOf("/"));
  const all = await commandLines();
  const isWall = (line: string): boolean =>
    line.includes(root) && / \/run\/agent |\/run\/remit\/agent\.js/.test(`${line} `);
  const walls = all.filter(({ line }) => isWall(line));
  const tops = walls.filter(({ ppid }) => !walls.some(({ pid }) => pid === ppid));
  const agents = all.filter(({ line }) =>
    line.includes(root) && /deno run .*\/agent\/agent\.js\s*$/.test(line) && !/bwrap/.test(line)
  );
  const whole = await memoryOf(tops.map(({ pid }) => pid));
  const own = await memoryOf(agents.map(({ pid }) => pid));
  return whole.pss - own.pss;
}

/** Gives how much later an agent begins within walls, how long its turns are, and what stands beside it. */
export async function agentBench(): Promise<Row[]> {
  await using provider = startTimed();
  const { origin, asked } = provider;
  const [plain, walled, first]: [Took[], Within[], Within[]] = [[], [], []];
  await onMachine(async (machine) => {
    const mount = await alicesPlans(machine);
    await addForeign(machine, provider);
    // Programs are built and a kernel is started in the first.
    for (let round = -1; round < ROUNDS; round++) {
      const [a, b] = [await bare(machine, origin, asked), await within(machine, mount, asked)];
      if (round < 0) first.push(b);
      else {
        plain.push(a);
        walled.push(b);
      }
    }
  });
  const of = (all: readonly Took[], what: "start" | "turn"): number =>
    median(all.map((each) => each[what]));
  const ours = median(walled.map((each) => each.ours));
  return [
    shown({
      name: "agent of others: its provider asked first, by remit run and by itself",
      ...{ value: of(walled, "start"), baseline: of(plain, "start"), unit: "ms" },
    }),
    shown({
      name: "agent of others: the same where a kernel is to be started",
      ...{ value: of(first, "start"), baseline: of(plain, "start"), unit: "ms" },
    }),
    atMost(
      {
        name: `agent of others: a turn, its provider answers in ${ANSWER_MS} ms`,
        ...{ value: of(walled, "turn"), baseline: of(plain, "turn"), unit: "ms" },
      },
      1.1,
      "the agent by itself",
    ),
    {
      ...shown({
        name: "agent of others: relay, client and walls beside it (PSS)",
        ...{ value: ours, baseline: 0, unit: "MB" },
      }),
      ...{ target: `≤ ${OURS_MB} MB`, ok: ours <= OURS_MB },
    },
  ];
}
