/** `simulate FILE`: plays a file's mail and HOST's decisions against a model, and prints the exchange. @module */
import { Question, type TaskId } from "../../contracts/authority/mod.ts";
import { EXIT, Fault, type Json, toJson } from "../../contracts/base/mod.ts";
import { Box, EvalProposal, type Mail, PetName } from "../../contracts/exchange/mod.ts";
import type { AgentSpec } from "../../contracts/policy/mod.ts";
import { displayText } from "../../text/mod.ts";
import { type Command, givenFile, recordOf } from "../command.ts";
import type { Basic } from "../powers.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import { kernelFor } from "../run/kernel_for.ts";
import { openKeyRing } from "../../config/key/ring.ts";
import { has } from "../arguments/parse_arguments.ts";
import { settle } from "../run/run_setting.ts";
import { createTask } from "../run/run_task.ts";
import { signAnswer } from "../question/sign_answer.ts";
import { entryOf, messageOf, packageOf, referenceOf, textOf } from "./letter.ts";
import { proposalOf } from "./proposal_commands.ts";
import { parse as parseYaml } from "yaml";
import * as z from "zod";

/** A running simulation. */
interface Simulation {
  readonly command: Command;
  readonly link: KernelLink;
  readonly task: TaskId;
  readonly agent: string;
  readonly resting: Resting;
  /** Ids of mail that an expectation consumed. */
  readonly read: Set<string>;
}

/** Plays a file. Exits with 0 when every expectation was met in order, else 1. */
export async function simulate(
  command: Command<Basic | "keyboard" | "mcpStore" | "models" | "wikis">,
): Promise<number> {
  const { powers, parsed } = command;
  const file = parsed.args[0] ?? "";
  const text = new TextDecoder().decode(givenFile(command, file, "read"));
  const { simulate: name, play, steps } = parseSimulation(text, file);
  const setting = await settle(command, {
    ...{ folder: powers.environment.cwd, mounts: [] },
    ...(play === undefined || has(parsed, "model") ? {} : { play: JSON.stringify(play) }),
  });
  // A fresh agent has no mail yet: the same file plays the same way each time.
  const agent: AgentSpec = {
    ...{ labels: {}, persona: "", limits: {}, env: {}, ...setting.agent },
    name: `sim-${powers.environment.id("")}`,
    program: "lal",
  };
  const link = await kernelFor(command, setting);
  try {
    const [first, ...rest] = steps;
    if (first !== undefined) await put(command, link, Box.parse(`agent:${agent.name}`), first);
    const resting = makeResting(link);
    const task = await createTask(
      command,
      link,
      { ...setting, agent, onQuestion: "queue", prepared: undefined },
      { text: "You have new mail.", interactive: true, plan: false },
    );
    await link.ask("watch", { task, from: 0 });
    const simulation = { command, link, task, agent: agent.name, resting, read: new Set<string>() };
    for (const [n, step] of rest.entries()) {
      const wrong = await played(simulation, step);
      if (wrong === undefined) continue;
      powers.screen.out(`✗ ${name}: step ${n + 2}: ${displayText(wrong, { max: 1_000 })}\n`);
      await over(link, task);
      return EXIT.failure;
    }
    await resting.rested();
    await over(link, task);
    powers.screen.out(`✓ ${name}: ${steps.length} steps\n`);
    return EXIT.success;
  } finally {
    link.close();
  }
}

/** Cancels a task that waits for more. */
async function over(link: KernelLink, task: TaskId): Promise<void> {
  const { status } = recordOf(await link.ask("task", { task }));
  if (status === "open" || status === "needsApproval") await link.ask("cancel", { task });
}

/** Plays one step; returns why its expectation failed, undefined when it was met. */
async function played(simulation: Simulation, step: SimulateStep): Promise<string | undefined> {
  const { command, link, task, resting } = simulation;
  if ("say" in step) {
    await resting.rested();
    resting.begins();
    await put(command, link, Box.parse(`task:${task}`), step);
    return undefined;
  }
  for (;;) {
    const rests = resting.now(), count = resting.count();
    const done = "mail" in step
      ? await heard(simulation, step.mail)
      : await decided(simulation, step);
    if (done) return undefined;
    if (rests) {
      const what = "mail" in step
        ? `mail that says "${step.mail}"`
        : `a proposal of "${step.proposal}"`;
      const { status, reason = "", answer = "" } = recordOf(await link.ask("task", { task }));
      return `${what} was expected, and the agent rests (${String(status)}: ${
        String(reason || answer)
      })`;
    }
    await resting.next(count);
  }
}

async function put(
  command: Command,
  link: KernelLink,
  box: Box,
  step: SimulateStep,
): Promise<void> {
  if (!("say" in step)) return;
  const edges = Object.entries(step.attach ?? {}).map(([name, value]) => ({
    name,
    reference: referenceOf(JSON.stringify(value)),
  }));
  show(command, "HOST", step.say);
  await link.ask("inboxPut", {
    message: messageOf(command.powers.environment.id("h"), "handoff", packageOf(step.say, edges)),
    stamp: { box, colour: "BLUE", label: "internal" },
  });
}

async function heard(
  { command, link, agent, read }: Simulation,
  expected: string,
): Promise<boolean> {
  const answer = await link.ask("inbox", { box: "host" });
  for (const entry of Array.isArray(answer) ? answer.map(entryOf) : []) {
    if (entry.message.sender !== `agent:${agent}` || read.has(entry.id)) continue;
    const text = textOf(entry);
    read.add(entry.id);
    show(command, "agent", text);
    if (entry.state === "queued") {
      await link.ask("inboxDismiss", { id: entry.id, why: "read by a simulation" });
    }
    if (text.includes(expected)) return true;
  }
  return false;
}

async function decided(
  { command, link, task, resting }: Simulation,
  step: Extract<SimulateStep, { proposal: string }>,
): Promise<boolean> {
  const { powers, places } = command;
  const questions = Question.array().parse(await link.ask("questions", { task }));
  const found = questions.map(proposalOf).find((each) => each?.program.includes(step.proposal));
  if (found === undefined) return false;
  // The question is listed before the event that the task waits: that late event would look like a new rest.
  await resting.rested();
  const { question, n, program } = found;
  show(command, "agent", `proposes #${n}: ${program}`);
  const [decision, say] = "grant" in step ? ["allow", undefined] as const : [
    "deny",
    "reject" in step ? step.reject : step.counter.why ?? "HOST proposes another program",
  ] as const;
  show(
    command,
    "HOST",
    "grant" in step
      ? "grants it"
      : "reject" in step
      ? `rejects it: ${say}`
      : `counters: ${step.counter.source}`,
  );
  if ("counter" in step) {
    const { why = "", codeNames = [], edgeNames = [], ...offer } = step.counter;
    const mail: Mail = {
      ...{ type: "counterProposal", proposal: n, why },
      offer: { ...offer, codeNames, edgeNames },
    };
    const message = messageOf(`counter-${question.id}`, "handoff", mail);
    const stamp = { box: `task:${task}`, colour: "BLUE", label: "internal" };
    await link.ask("inboxPut", { message, stamp });
  }
  const signer = openKeyRing(powers.disk, places).provideConsent();
  const answer = signAnswer(question, {
    ...{ decision, for: "once", say, channel: "answersFile" },
    by: powers.environment.env("USER") ?? "operator",
  }, { signer, at: powers.environment.now() });
  resting.begins();
  await link.ask("answer", toJson(answer));
  return true;
}

function show({ powers }: Command, who: string, text: string): void {
  const line = text.trimEnd().replaceAll("\n", " ⏎ ");
  powers.screen.out(`${who.padEnd(6)} ${displayText(line, { max: 2_000 })}\n`);
}

const words = z.string().min(1).max(65_536);

/** One step: HOST writes; HOST decides on an expected proposal; or mail to HOST is expected. */
const SimulateStep = z.union([
  z.object({
    say: words,
    /** Attachments of the mail, as extended JSON. */
    attach: z.record(PetName, z.json()).optional(),
  }).strict(),
  z.object({ proposal: words, grant: z.literal(true) }).strict(),
  z.object({ proposal: words, reject: words }).strict(),
  z.object({
    proposal: words,
    counter: EvalProposal.partial({ codeNames: true, edgeNames: true }).extend({
      why: z.string().max(2_000).optional(),
    }).strict(),
  }).strict(),
  z.object({ mail: words }).strict(),
]);
/** See {@link SimulateStep}. */
type SimulateStep = z.infer<typeof SimulateStep>;

/** A whole file. `play` is the script of the scripted model, where no other model is named. */
const SimulateFile = z.object({
  simulate: z.string().min(1).max(128),
  play: z.json().optional(),
  steps: z.array(SimulateStep).min(1).max(1_000),
}).strict().refine(({ steps: [first] }) => first !== undefined && "say" in first, {
  message: "the first step says something",
});
/** See {@link SimulateFile}. */
export type SimulateFile = z.infer<typeof SimulateFile>;

/** Parses a file. @throws Fault `invalidInput` with file and place */
function parseSimulation(text: string, file: string): SimulateFile {
  let value: unknown;
  try {
    value = parseYaml(text, { maxAliasCount: 0, logLevel: "error" });
  } catch (error) {
    const why = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw new Fault("invalidInput", `Cannot read "${file}": ${why}`, { cause: error });
  }
  const parsed = SimulateFile.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Fault(
    "invalidInput",
    `Cannot read "${file}": ${issue?.path.join(".") || "file"}: ${issue?.message}`,
  );
}

/** The state of a watched task. */
interface Resting {
  /** Whether the task does nothing more by itself. */
  now(): boolean;
  /** Call before giving the task something to do. */
  begins(): void;
  /** Number of events received. */
  count(): number;
  /** Resolves once more than `count` events were received. */
  next(count: number): Promise<void>;
  rested(): Promise<void>;
}

/** Tracks the task that is watched on `link`. */
function makeResting(link: Pick<KernelLink, "onTell" | "closed">): Resting {
  let rests = false;
  let status = "open";
  let count = 0;
  let wake = (): void => undefined;
  link.onTell((_op: string, body: Json) => {
    const event = recordOf(body);
    if (event["event"] === "message") rests = false;
    if (event["event"] === "taskStatus") {
      const before = status;
      status = String(recordOf(event["body"])["status"]);
      // "open" after a question means that the task goes on; after a turn, that it rests.
      rests = before !== "needsApproval" || status !== "open";
    }
    count += 1;
    wake();
  });
  const next = async (known: number): Promise<void> => {
    if (count > known) return;
    await new Promise<void>((resolve, reject) => {
      wake = resolve;
      link.closed.then(reject);
    });
  };
  return Object.freeze<Resting>({
    now: () => rests,
    begins: () => {
      rests = false;
    },
    count: () => count,
    next,
    async rested(): Promise<void> {
      while (!rests) await next(count);
    },
  });
}
