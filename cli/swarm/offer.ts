/**
 * Offers a swarm's result to the person: one task that stages every changed file in the person's own folder, whose review
 * shows everything as one diff. A scripted model plays exactly these writes.
 * @module
 */
import { join } from "node:path";
import { EXIT, Fault } from "../../contracts/base/mod.ts";
import { AgentTask } from "../../contracts/task/mod.ts";
import { sha256Hex } from "../../port/digest.ts";
import type { Mirror, SwarmPowers, SwarmState } from "../../swarm/mod.ts";
import { displayText } from "../../text/mod.ts";
import { commandText } from "../command.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import { kernelFor } from "../run/kernel_for.ts";
import { finishFollowing } from "../run/run_command.ts";
import { settle } from "../run/run_setting.ts";
import { awaitEnd, createTask, followTask } from "../run/run_task.ts";
import { askStaged } from "../run/watch_task.ts";
import type { SwarmCommand } from "./kernel_tasks.ts";

const MAX_CALLS = 60, MAX_CHARACTERS = 1_000_000;

/** The wanted state of a file in the person's folder; without `text`, the file is to be deleted. */
interface Wanted {
  readonly path: string;
  readonly text?: string;
  /** SHA-256 of the file's content now; absent: there is no such file. */
  readonly base?: string;
}

/** The outcome of an offer. */
export interface Offered {
  readonly task: string;
  readonly exit: number;
  /** Whether the folder has every change. */
  readonly applied: boolean;
}

/** Compares the branch with the person's folder. @throws Fault `conflict`, `refused` that list the files in the way */
async function wantedOf(
  { read, kind }: Pick<SwarmPowers, "read" | "kind">,
  mirror: Mirror,
  { begun: { base, folder } }: SwarmState,
): Promise<{ readonly tip: string; readonly files: readonly Wanted[] }> {
  const tip = await mirror.tip();
  const differences = await mirror.differences(base, tip);
  const content = async (side: "before" | "after"): Promise<ReadonlyMap<string, Uint8Array>> => {
    const of = differences.filter((each) => each[side] !== undefined);
    const found = await mirror.blobs(of.flatMap((each) => each[side]?.blob ?? []));
    return new Map(of.map(({ path }, at) => [path, found[at] ?? new Uint8Array()]));
  };
  const [before, after] = [await content("before"), await content("after")];
  const changed: string[] = [], notText: string[] = [], files: Wanted[] = [];
  for (const { path } of differences) {
    const place = join(folder, path), next = after.get(path);
    const now = kind(place) === undefined ? undefined : read(place, 64_000_000);
    const hash = now === undefined ? undefined : sha256Hex(now);
    const wanted = next === undefined ? undefined : sha256Hex(next);
    if (hash === wanted) continue;
    const had = before.get(path);
    if (hash !== (had === undefined ? undefined : sha256Hex(had))) {
      changed.push(path);
      continue;
    }
    const text = next === undefined ? undefined : textOf(next);
    if (next !== undefined && text === undefined) notText.push(path);
    files.push({
      path,
      ...(text === undefined ? {} : { text }),
      ...(hash === undefined ? {} : { base: hash }),
    });
  }
  const named = (paths: readonly string[]): string =>
    `${paths.slice(0, 10).map((path) => displayText(path, { max: 200 })).join(", ")}${
      paths.length > 10 ? ` and ${paths.length - 10} more` : ""
    }`;
  if (changed.length > 0) {
    throw new Fault(
      "conflict",
      `Cannot put the swarm's changes into "${folder}": changed there since its commit ${
        base.slice(0, 12)
      }: ${named(changed)}; put those aside (git stash), then "remit swarm resume"`,
    );
  }
  if (notText.length > 0) {
    throw new Fault(
      "refused",
      `Cannot put the swarm's changes into "${folder}": no text of at most ${MAX_CHARACTERS} characters: ${
        named(notText)
      }`,
    );
  }
  return { tip, files };
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes("\0") || text.length > MAX_CHARACTERS ? undefined : text;
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** The script of the scripted model: stages every file, then ends. */
function playOf(files: readonly Wanted[], mount: string, words: string): string {
  // Two braces begin a template in a script, also within a file's content.
  const literal = (text: string): string => text.replaceAll("{{", '{{ "{{" }}');
  const calls = files.map(({ path, text, base }) => ({
    tool: text === undefined ? "file_delete" : "file_write",
    args: {
      path: literal(`${mount}/${path}`),
      ...(text === undefined ? {} : { content: literal(text) }),
      ...(base === undefined ? {} : { base }),
    },
  }));
  const turns = [];
  for (let at = 0; at < calls.length; at += MAX_CALLS) {
    turns.push({ calls: calls.slice(at, at + MAX_CALLS) });
  }
  // A script is YAML, which includes JSON except for lines that begin with a tab; here there are none.
  return JSON.stringify({ scenario: "swarm", turns: [...turns, { say: literal(words) }] });
}

/**
 * Offers the branch to the person. Undefined where the folder already has all of it.
 *
 * @throws Fault `conflict` for files that changed in the folder, `refused` for files that are no text, `tooLarge`
 */
export async function offer(
  command: SwarmCommand,
  { state, mirror, offered }: {
    readonly state: SwarmState;
    readonly mirror: Mirror;
    /** Called with the new task before it asks anything. */
    offered(task: string, commit: string): Promise<void>;
  },
): Promise<Offered | undefined> {
  const { powers } = command;
  const { begun: { folder, mount }, merges } = state;
  const { tip, files } = await wantedOf(powers.swarm, mirror, state);
  if (files.length === 0) return undefined;
  const words = `Changes of swarm ${state.id}: ${
    merges.map(({ issue }) => `${issue.id} (${issue.title})`).join("; ")
  }`;
  const play = playOf(files, mount, words);
  if (play.length > MAX_CHARACTERS) {
    throw new Fault(
      "tooLarge",
      `Cannot put the swarm's changes into "${folder}": ${files.length} files of more than ${MAX_CHARACTERS} characters in all`,
    );
  }
  const defaults = {
    folder: powers.environment.cwd,
    mounts: [{ name: mount, dir: folder, mode: "stage" as const }],
    play,
  };
  const settled = await settle(withoutMounts(command), defaults);
  const setting = {
    ...settled,
    mounts: settled.mounts.filter(({ name }) => name === mount),
    limits: {
      ...settled.limits,
      toolCalls: files.length + 10,
      iterations: Math.ceil(files.length / MAX_CALLS) + 10,
    },
    mcp: [],
  };
  const link = await kernelFor(command, setting);
  try {
    const waits = await waiting(link, state, { tip, rest: powers.swarm.rest });
    if (waits !== undefined) {
      const words = commandText(command, "questions");
      powers.screen.say(`  the diff of this swarm waits for you already: ${words}`);
      return { task: waits, exit: EXIT.waiting, applied: false };
    }
    const task = await createTask(command, link, setting, {
      ...{ text: words, interactive: false, plan: false },
      // Workers wrote the changes, and the person has not read them.
      attached: true,
    });
    await offered(task, tip);
    const running = await followTask(command, link, task, { setting, budget: 1 });
    const exit = command.json
      ? (await awaitEnd(command, link, running)).exit ?? EXIT.failure
      : await finishFollowing(command, link, running);
    const staged = await askStaged(link, task);
    const now = AgentTask.parse(await link.ask("task", { task }));
    const applied = staged.changes.length === 0 && now.applied.length > 0;
    if (applied) checkApplied(files, staged.applied);
    return { task, exit: exit === EXIT.success && !applied ? EXIT.notApplied : exit, applied };
  } finally {
    link.close();
  }
}

/** Milliseconds between two looks at a resuming task, and their maximum. */
const LOOK_MS = 300, MAX_LOOKS = 100;

/** The task of an earlier offer of this very commit, while it is not over. */
async function waiting(
  link: Pick<KernelLink, "ask">,
  { offered }: Pick<SwarmState, "offered">,
  { tip, rest }: { readonly tip: string; rest(ms: number): Promise<void> },
): Promise<string | undefined> {
  if (offered?.commit !== tip) return undefined;
  try {
    // After a kill, a kernel resumes the earlier offer; do not start a second one.
    for (let looks = 0;; looks++) {
      const { status } = AgentTask.parse(await link.ask("task", { task: offered.task }));
      if (status === "needsApproval") return offered.task;
      if (status !== "open") return undefined;
      if (looks === MAX_LOOKS) return offered.task;
      await rest(LOOK_MS);
    }
  } catch (error) {
    // The task was erased meanwhile: offer the diff again.
    if (error instanceof Fault && error.code === "notFound") return undefined;
    throw error;
  }
}

/** Checks that the applied content is what the swarm's review saw. @throws Fault `conflict` */
function checkApplied(
  files: readonly Wanted[],
  applied: Awaited<ReturnType<typeof askStaged>>["applied"],
): void {
  const digests = new Map(
    applied.flatMap(({ changes }) => changes.map(({ path, next }) => [path, next])),
  );
  const other = files.find(({ path, text }) => {
    const found = [...digests].find(([name]) => name.endsWith(`/${path}`))?.[1];
    return found !== (text === undefined ? undefined : sha256Hex(new TextEncoder().encode(text)));
  });
  if (other === undefined) return;
  throw new Fault(
    "conflict",
    `Cannot say that the swarm's changes are applied: "${
      displayText(other.path)
    }" has other content than was reviewed`,
  );
}

/** The command without --mount, --model and --replay, which do not apply to this task. */
function withoutMounts(command: SwarmCommand): SwarmCommand {
  const flags = new Map(
    [...command.parsed.flags].filter(([name]) => !["mount", "model", "replay"].includes(name)),
  );
  return { ...command, parsed: { ...command.parsed, flags } };
}
