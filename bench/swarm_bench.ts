/**
 * 200 workers on one kernel, and the merge queue of a swarm: 100 changes onto one branch, against bare git that merges, commits and moves the branch
 * for each, in the same repository and the same run.
 * @module
 */
import { join } from "node:path";
import type { Json } from "../contracts/base/mod.ts";
import type { SwarmEvent } from "../swarm/events.ts";
import { beginState, takeEvent } from "../swarm/journal.ts";
import { makeMergeQueue } from "../swarm/merge_queue.ts";
import { findBase, makeMirror, planOf } from "../swarm/mod.ts";
import { personsGit } from "../tests/fake/swarm.ts";
import { realSwarmPowers } from "../tests/fake/swarm_rig.ts";
import { benchRequest, startBenchKernel } from "./_kernel.ts";
import { quantile } from "./quantile.ts";
import { atMost, type Figure, type Row, shown } from "./row.ts";

const CHANGES = 100;

/** Merges, commits without checks, and moves a branch from what it was, for each change. */
const BARE = `set -e
for theirs; do
  tip=$(git rev-parse refs/heads/bare)
  tree=$(git merge-tree --write-tree "$tip" "$theirs")
  next=$(git -c user.name=a -c user.email=a@localhost commit-tree "$tree" -p "$tip" -m "$theirs")
  git update-ref refs/heads/bare "$next" "$tip"
done`;

/** Milliseconds for each change. */
export async function mergeQueue(): Promise<readonly Row[]> {
  const dir = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "remit-bench-" }));
  try {
    const repository = join(dir, "repo");
    Deno.mkdirSync(repository);
    const names = Array.from({ length: CHANGES }, (_, n) => `f${n}.txt`);
    for (const name of names) Deno.writeTextFileSync(join(repository, name), `${name}\n`);
    await personsGit(repository, "init", "--quiet", "--initial-branch=main");
    await personsGit(repository, "add", "--all");
    await personsGit(repository, "commit", "--quiet", "--message=first");
    const powers = realSwarmPowers(dir);
    const folder = join(dir, "mirror.git");
    const mirror = makeMirror(powers, folder);
    const base = findBase(powers, repository);
    await mirror.take(base);
    const commits: string[] = [];
    for (const path of names) {
      const { commit } = await mirror.commit(base.commit, {
        ...{ ref: `refs/remit/${path}`, message: path, at: 0 },
        changes: [{ path, bytes: new TextEncoder().encode("changed\n") }],
      });
      commits.push(commit);
    }
    await personsGit(folder, "update-ref", "refs/heads/bare", base.commit);
    // Nothing between git and a shell: what a person's own script would take.
    const bare = await timed(async () => {
      const { success } = await new Deno.Command("sh", {
        args: ["-c", BARE, "sh", ...commits],
        ...{ cwd: folder, clearEnv: true },
        env: { PATH: "/usr/bin:/bin", HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1" },
      }).output();
      if (!success) throw new Error("Cannot time bare git: its script failed");
    });
    const last = await personsGit(folder, "rev-parse", "refs/heads/bare^{tree}");
    const own = await queued(dir, { powers, mirror, base: base.commit, commits, names })
      .finally(() => mirror.close());
    if (await mirror.treeOf(await mirror.tip()) !== last) {
      throw new Error("Cannot compare: the two came to different trees");
    }
    return [
      atMost(
        {
          ...{ name: `merge queue, ${CHANGES} changes, for each`, unit: "ms" },
          ...{ value: own / CHANGES, baseline: bare / CHANGES },
        },
        1.2,
        "a script of bare git",
      ),
    ];
  } finally {
    Deno.removeSync(dir, { recursive: true });
  }
}

const WORKERS = 200;
/** Milliseconds in which a worker's model thinks: all of them are at work at the same time. */
const THINKS = 20_000;
const WORKER = `scenario: worker
turns:
  - { say: I look., calls: [{ tool: file_delete, args: { path: m/a.txt } }] }
  - { say: Done., stream: { firstMs: ${THINKS} } }
`;
/** Megabytes of the kernel, and milliseconds for somebody who has nothing to do with it. */
const MOST_MB = 150, MOST_MS = 20;

/** Workers of one swarm on one kernel, each with a claim: what the kernel takes, and how long another waits for an answer. */
export async function swarmWorkers(): Promise<readonly Row[]> {
  const kernel = await startBenchKernel();
  try {
    const ask = (op: string, body: Json): Promise<Json> => kernel.link.ask(op, body);
    const look = async (): Promise<number> =>
      await timed(() => ask("task", { task: other }).then());
    const { task: other } = await kernel.finish(benchRequest("turns: [{ say: Done. }]"));
    const idle: number[] = [], busy: number[] = [];
    while (idle.length < 200) idle.push(await look());
    let on = true;
    const pinging = (async () => {
      while (on) {
        busy.push(await look());
        // TIMER: a person who looks now and then.
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    })();
    const claimed = async (n: number): Promise<number> => {
      const session = `s${String(n).padStart(12, "0")}`;
      const ingress = { channel: "schedule", principal: "swarm:sw0", colour: "YELLOW" };
      const request = {
        ...{ ...benchRequest(WORKER), session, review: "asked" },
        ingress: { ...ingress, label: "internal" },
      };
      const { task, exit } = await kernel.begin(request);
      const scope = { resource: "gitRepository:bench", scope: `src/${n}` };
      await ask("resources", { do: "claim", task, ...scope, mode: "exclusive", standing: true });
      return await exit;
    };
    const exits = await Promise.all(Array.from({ length: WORKERS }, (_, n) => claimed(n)));
    on = false;
    await pinging;
    if (exits.some((exit) => exit !== 0)) throw new Error(`workers failed: ${exits.join(" ")}`);
    const status = await Deno.readTextFile(`/proc/${kernel.pid}/status`);
    const peak = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? NaN) / 1024;
    const within = (figure: Figure, most: number): Row => ({
      ...{ ...shown(figure), target: `≤ ${most} ${figure.unit}` },
      ok: figure.value <= most,
    });
    const name = `${WORKERS} workers of a swarm`;
    return [
      within({ name: `${name}: kernel at most`, unit: "MB", value: peak, baseline: 0 }, MOST_MB),
      within({
        ...{ name: `${name}: another task looked at meanwhile, p99`, unit: "ms" },
        ...{ value: quantile(busy, 0.99), baseline: quantile(idle, 0.99) },
      }, MOST_MS),
    ];
  } finally {
    await kernel.close();
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** The queue with its durable journal, without checks: those cost what they cost. */
async function queued(dir: string, parts: {
  readonly powers: ReturnType<typeof realSwarmPowers>;
  readonly mirror: ReturnType<typeof makeMirror>;
  readonly base: string;
  readonly commits: readonly string[];
  readonly names: readonly string[];
}): Promise<number> {
  const { powers, mirror, base, commits, names } = parts;
  const plan = planOf(
    { version: 1, issues: commits.map((_, n) => ({ id: `i${n}`, title: `I ${n}` })) },
    (why) => new Error(why),
  );
  const state = beginState({
    ...{ kind: "begun", id: "sw000000000001", at: 1, base, folder: "/x", mount: "repo", plan },
  });
  for (const [n, commit] of commits.entries()) {
    const attempt = n + 1;
    const words = {
      kind: "assigned",
      work: "author",
      role: "coder",
      model: "",
      provider: "p",
    } as const;
    takeEvent(state, { ...words, at: 1, attempt, issue: `i${n}`, from: base, session: `s${n}` });
    takeEvent(state, { kind: "started", at: 1, attempt, task: `t${n}` });
    const outcome = {
      kind: "patch",
      commit,
      tree: commit,
      paths: [names[n] ?? ""],
      said: "",
    } as const;
    takeEvent(state, {
      ...{ kind: "ended", at: 1, attempt, money: 0 },
      outcome: { ...outcome, paths: [...outcome.paths] },
    });
  }
  const journal = powers.journal(join(dir, "journal.jsonl"));
  try {
    const record = async (event: SwarmEvent): Promise<void> => {
      takeEvent(state, event);
      await journal.append(JSON.stringify(event));
    };
    const check = () => Promise.resolve({ ok: true, said: "" });
    const merge = makeMergeQueue({ state, mirror, check, record, now: () => 2 });
    return await timed(async () => {
      await Promise.all(commits.map((_, n) => merge(`i${n}`)));
    });
  } finally {
    journal.close();
  }
}
