/** The kernel over an intact log: wires the parts in the order in which a request flows. Used by main.ts. @module */
import { isFinal } from "../agents/mod.ts";
import { auditRecords, exportLog, exportReceipts, readPrivate } from "../broker/audit/mod.ts";
import {
  makeGate,
  makePins,
  makePlans,
  makePolicy,
  makeProvenance,
  makeRedeem,
  makeRuleGuard,
  makeSanitizer,
  makeTokens,
  openQuestions,
  type Plans,
  redact,
  type TaskGate,
  whyModelRefused,
} from "../broker/mod.ts";
import { type ContentTrust, tellSigned } from "../contracts/memory/content_trust.ts";
import type { Leases } from "../contracts/authority/gate.ts";
import { type Pid, SessionId, TaskId } from "../contracts/authority/ids.ts";
import type { ToolBinding } from "../contracts/task/power.ts";
import type { Powers, ProcessKeeper, ProcessRow } from "../contracts/task/process.ts";
import type { AdoptingLog, Store } from "../contracts/task/store.ts";
import { type KernelConfig, workFolder } from "../contracts/wire/wire_control.ts";
import { makeChildren } from "./core/child/children.ts";
import { makePipePowers } from "./core/child/mcp_pipe_powers.ts";
import { makeRunPowers } from "./power/command/command_spawn_powers.ts";
import { makeLook } from "./power/command/run.ts";
import { type Control, type ControlHandlers, rulesDigest } from "./control/control.ts";
import type { IdleWatch } from "./control/idle_watch.ts";
import { makeHandlers, takeAnswer } from "./control/operator.ts";
import {
  chooseModel,
  makeExtend,
  makePhaseMove,
  makeProcessOps,
} from "./control/operator_change.ts";
import { makeLeases } from "./core/lease/leases.ts";
import { careOverWork, type LogCare } from "./core/log/care.ts";
import type { ReadPrivate } from "./core/log/read_events.ts";
import { costsOf, type FindTask } from "./core/log/spending.ts";
import { replayTask } from "./task/replay.ts";
import { makeRestored } from "./task/restored.ts";
import { makeEarlierCalls, readLeases } from "./task/task_history.ts";
import { makeBus, makeWatching, pastEvents } from "./core/log/watch.ts";
import { makeWorkspaces } from "./control/workspaces.ts";
import { wireAgents } from "./main_agents.ts";
import { disk, exit, note } from "./main_powers.ts";
import { makeMainFleet } from "./main_fleet.ts";
import { type MainModelsParts, wireModels } from "./main_models.ts";
import { wireTools } from "./main_tools.ts";
import { learnContents } from "./core/log/contents.ts";
import type { RemoteStore } from "../store/postgres/mod.ts";
import { makeLentSecrets } from "./power/model/services.ts";
import { makeEngine, makePluginCode } from "./power/plugin/hosts.ts";
import { askToGoOn, tellingExhaustion } from "./core/process/brake.ts";
import { makeProcessTable } from "./core/process/table.ts";
import type { ServeParts } from "./serve_control.ts";
import { makeSpawnPowers } from "./core/start/spawn_powers.ts";
import { makeReadArtifact } from "./task/outbox.ts";
import { makeTaskHost, type RunningTasks } from "./task/task_host.ts";
import { makeTaskQuestions } from "./task/task_questions.ts";
import { makeTrial } from "./task/trial.ts";
import { makeToolhosts } from "./power/toolhost/toolhosts.ts";

/** Bytes that a task may keep in scratch. */
const SCRATCH_QUOTA = 64_000_000;
/** Milliseconds for closing; what remains dies with this process. */
const CLOSING_MS = 3_000;
/** Milliseconds after a change of a task, or the start, until the log's new part is checked. */
const CHECK_AFTER_MS = 1_000;
/** Tasks with live processes; more wait their turn. */
const MAX_CONCURRENT = 128;

interface WorkParts {
  readonly config: KernelConfig;
  readonly powers: Powers;
  readonly store: Store;
  /** The store for long readers, between whose reads signals are handled. */
  readonly slowStore: Store;
  /** Milliseconds of a monotonic clock. */
  steady(): number;
  /** Known colours and labels of contents. */
  readonly contents: ContentTrust;
  /** The log over the store. */
  readonly plainLog: AdoptingLog;
  /** The store in a shared database; undefined where it is a file. */
  readonly remote: RemoteStore | undefined;
  /** Called when messages of other kernels may have arrived. */
  readonly heard: { now: (channel: string) => void };
  /** Public half of the key that signs receipts. */
  readonly receiptKey: string;
  readonly care: LogCare;
  /** Ends this process; replaced by an orderly close. */
  readonly end: { now: () => void };
  /** Serves the control socket. */
  serve(
    handlers: ControlHandlers,
    parts: Pick<ServeParts, "watching" | "peers" | "head" | "secrets">,
  ): Promise<Control>;
  /** Makes the watch that ends this process after a time without work. */
  idleUnless(busy: () => boolean): IdleWatch;
}

/**
 * Wires everything and serves. Resolves once the work of an earlier kernel is resumed.
 *
 * @throws Fault `storeCorrupt` when the store holds what no kernel wrote
 */
export async function work(parts: WorkParts): Promise<void> {
  const { config, powers, store, slowStore, contents, plainLog, care, end, serve, idleUnless } =
    parts;
  const secretOf: ReadPrivate = (event) => readPrivate(store, event);
  const slowSecretOf: ReadPrivate = (event) => readPrivate(slowStore, event);
  const fleet = parts.remote === undefined || config.store === undefined
    ? undefined
    : makeMainFleet({
      ...{ store: parts.remote, log: plainLog, choice: config.store, powers, note },
      ...{ receiptKey: parts.receiptKey, version: config.harness, steady: parts.steady },
      end(why): void {
        note(`This kernel ends: ${why}`);
        end.now();
      },
    });
  const bus = makeBus(fleet?.log ?? plainLog, powers.now);
  const { log } = bus;
  const policy = makePolicy(config.policy);
  const processes = makeProcessTable(powers);
  const leases = makeLeases({ log, powers });
  const { personKey, stepUpKey, harness } = config, rules = rulesDigest(config);
  const people = { personKey, stepUpKey, kernelKey: parts.receiptKey };
  const questions = await openQuestions({ store, log, powers, ...people });
  const asking = makeTaskQuestions({
    ...{ questions, bus, note, statusOf: (task) => agents.keeper.get(task)?.status },
  });

  const spawn = makeSpawnPowers();
  const code = makePluginCode(disk.read);
  const engine = makeEngine(code, config.tools.engine);
  const children = await makeChildren({
    ...{ config, powers, spawn, pipes: makePipePowers(), preparePlugin: engine?.load },
  });
  const modelRefused: MainModelsParts["modelRefused"] = (row, model) =>
    whyModelRefused(policy.modelAllowed, row, model);
  const secrets = makeLentSecrets({ secrets: config.secrets, digest: config.secretsDigest });
  const { models, rates, budgets, uses, countBudgets, recount, lend, embed, ask } = wireModels({
    ...{ config, secrets, children, powers, log, modelRefused, fleet, store: slowStore },
    ...{ processes, find: (task) => agents.service.find(task) },
  });
  const policyNever = (path: string, right: "read" | "write"): string | undefined => {
    const found = policy.never(path, right);
    return found === undefined ? undefined : `"${found.glob}" (${found.at})`;
  };
  const look = makeLook(makeRunPowers(children.lookForLeft), config.programs.prlimit);
  const toolhosts = makeToolhosts({
    ...{ children, leases, powers, spawn, policyNever, contents },
    ...(config.programs.prlimit === undefined ? {} : { look }),
  });

  const tokens = makeTokens(powers), redeemHere = makeRedeem(tokens, processes);
  const redeem: typeof redeemHere = (call) => {
    fleet?.check(call);
    redeemHere(call);
  };
  const restored = makeRestored(), pins = makePins(), plans = makePlans();
  const read = makeReadArtifact({ work: workFolder(config), read: disk.read, now: powers.now });
  const provenance = makeProvenance();
  const tools = await wireTools({
    ...{ config, children, toolhosts, leases, log, processes, powers, code, engine, spawn, redeem },
    ...{ pins, plans, provenance, questions, store: slowStore, note, policyNever, contents, uses },
    readPrivate: secretOf,
    neverRead: policy.neverGlobs("read"),
    ...{ inbox: () => agents.inbox, resources: () => agents.resources, listen: bus.listen },
    ...{ read, exchangeOf: (task: TaskId) => agents.exchanges.ofTask(task) },
    ...{ executes: policy.executes, clearanceOf: policy.clearance },
    ...{ secret: secrets.kept, receiptKey: parts.receiptKey },
    family: (task) => tasks.family(task),
    onProgress: (task, progress) => watching.progress(task, progress),
  });
  const granting = { rules: config.policy.rules, network: tools.network };
  const gateOver = (over: {
    readonly processes: ProcessKeeper;
    readonly leases: Leases;
    tools(process: ProcessRow): ReadonlyMap<string, ToolBinding>;
    readonly plans?: Plans;
  }): TaskGate =>
    makeGate({
      ...{ powers, questions, policy, log, pins, tokens, provenance },
      redact,
      reasonFor: (row, call, signal) => tasks.reasonFor(row, call, signal),
      earlier: makeEarlierCalls(slowStore, slowSecretOf),
      signed: (digest) => contents.signed("result", digest),
      advisor: makeRuleGuard(),
      unfinished: restored.unfinished,
      finished: restored.finished,
      flags: (row, ...guarded) => tasks.family(row.task)?.flags(row, ...guarded),
      ...(fleet === undefined ? {} : { cover: fleet.cover }),
      ...over,
    });
  const exhausted = (pid: Pid, limit: string): void => {
    const row = processes.get(pid);
    const family = row === undefined ? undefined : tasks.family(row.task);
    family?.exhausted(pid, limit).catch((error: unknown) =>
      note(`SIGXCPU was not delivered: ${String(error)}`)
    );
  };
  const gate = gateOver({
    processes: tellingExhaustion(processes, exhausted),
    leases,
    tools: ({ task }) => tasks.family(task)?.workspace.tools ?? new Map(),
    plans,
  });

  const tasks: RunningTasks = makeTaskHost({
    ...{ children, gate, powers, processes, leases, models, store, restored, disk, log },
    toolhosts: tools.hosts,
    ...{ granting, note, readPrivate: secretOf },
    work: workFolder(config),
    never: policy.neverGlobs("read"),
    scratchQuota: SCRATCH_QUOTA,
    planned: tools.planned,
    workspace: (task, request) => tools.workspace(task, request),
    phaseOf: (task) => agents.keeper.get(task)?.phase,
    ...{ modelRefused, rates },
    ...{ budgets, uses },
    askBrake: (row) => askToGoOn({ questions, powers, processes }, row),
    ...{ exhausted, ...asking },
    onText(task, text) {
      watching.text(task, text);
      agents.exchanges.text(task, text);
    },
    onThinking: (task, characters) => watching.thinking(task, characters),
    onReading: (task, reading) => watching.reading(task, reading),
    onWire: (task, exchange) => watching.wire(task, exchange),
    provenance,
    forget: gate.forget,
  });
  const agents = await wireAgents({
    ...{ store: slowStore, log, bus, powers, harness, rules, note, read, contents },
    ...{ net: tools.net, uses, recount, related: tools.related, steady: parts.steady },
    labelNow: (task) => tasks.family(task)?.root.label,
    ...{ readPrivate: secretOf, host: tasks, concurrent: MAX_CONCURRENT },
    ...asking,
    stranded(task, why, exit) {
      note(`Cannot go on with task ${task}: ${why}`);
      watching.strand({ task, status: "open", exit });
    },
  });
  const { keeper, past, service, conversations, outbox } = agents;
  leases.onEnd((lease) => {
    // SIGCAPDROP: the process loses tools; a call under the lease is refused by its own checks.
    tasks.family(lease.task)?.signal(lease.pid, "SIGCAPDROP").catch((error: unknown) =>
      note(`SIGCAPDROP was not delivered: ${String(error)}`)
    );
  });
  const workspaces = makeWorkspaces({
    ...{ store: slowStore, log, powers, disk, note, ahead: agents.ahead },
    work: workFolder(config),
    records: async (task) => (await replayTask(slowStore, slowSecretOf, task)).records,
    named: (task) => conversations.list().some((each) => each.task === task),
    asks: (task) => questions.open(task).length > 0,
  });
  const watching = makeWatching({
    ...{ bus, store: slowStore },
    readPrivate: slowSecretOf,
    get: service.get,
    unwatched: service.unattended,
  });

  await keeper.load();
  const findTask: FindTask = (task) => {
    const id = TaskId.safeParse(task);
    return id.success ? service.find(id.data) : undefined;
  };
  await countBudgets(findTask, bus.listen, keeper.live());
  const handlers = makeHandlers({
    fleet,
    ...{ service, leases, questions, conversations, past, rules, now: powers.now },
    session: () => SessionId.parse(powers.id("s")),
    head: log.head,
    ...makeProcessOps({ processes, tasks, toolhosts: tools.hosts, advertise: gate.advertise }),
    grants: questions.grants.list,
    leasesEver: (of, live) => readLeases({ store: slowStore, readPrivate: slowSecretOf }, of, live),
    keepSecrets: secrets.keep,
    ...{ lend, embed, ask, unload: models.unload, mcp: tools.mcp, agents: agents.ops },
    choose: chooseModel({ tasks, service, log }),
    can: makeTrial({
      ...{ powers, gateOver, granting },
      tools: (task, request) => tools.workspace(task, request).tools,
    }),
    extend: makeExtend({ processes, tasks, service, keeper, isFinal }),
    move: makePhaseMove({ processes, tasks, service, keeper, isFinal }),
    artifacts: outbox.list,
    release: outbox.release,
    signed: (asked) => tellSigned(contents, asked),
    sanitize: makeSanitizer({ stepUpKey: config.stepUpKey, contents, log }),
    log: (task, from) => pastEvents(slowStore, slowSecretOf, { task, from }),
    costs: (span) => costsOf(slowStore, { ...span, find: findTask }),
    budgets: budgets.standings,
    ...{ workspaces, profiles: tools.profiles },
    use: async (amounts, doing, past) =>
      void await uses.take({ task: undefined, past }, amounts, doing),
    auditQuery: (filter) => auditRecords({ store: slowStore, filter }),
    auditExport: () => exportLog(slowStore),
    ...careOverWork(care, () => idle.endSoon()),
    receipts: (task, call) =>
      exportReceipts({ store: slowStore, task, ...(call === undefined ? {} : { call }) }),
    stop: (now) => now ? powers.after(0, () => end.now()) : idle.endSoon(),
  });
  const control = await serve(handlers, {
    ...{ watching, peers: agents.peers, head: log.head, secrets: secrets.digest },
  });
  end.now = (): void => {
    end.now = () => undefined;
    control.close();
    // Children end first, because a hanging start must not hold up the rest.
    const closed = Promise.all([children, service, models].map((each) => each.close()))
      // Commits events that wait for the next commit.
      .then(() => log.append("kernel", []).catch(() => undefined))
      .then(() => fleet?.leave().catch(() => undefined))
      .then(() => store.close())
      .then(() => contents.close());
    const late = new Promise<void>((resolve) => powers.after(CLOSING_MS, resolve));
    void Promise.race([closed, late]).finally(() => exit(0));
    for (const each of [leases, agents.resources, workspaces]) each.close();
  };
  /** Checks the log's new part a little later, when no one waits for the task any more. */
  let checking = false;
  const keepUp = (): void => {
    if (checking) return;
    checking = true;
    powers.after(CHECK_AFTER_MS, () => {
      checking = false;
      care.keepUp().then(
        (bad) => bad && idle.endSoon(),
        (error: unknown) => note(`The log was not checked: ${String(error)}`),
      );
    });
  };
  bus.listen(undefined, ({ kind }) => {
    if (kind === "taskStatus") keepUp();
  });
  const idle = idleUnless(() => control.connections() > 0 || !service.idle());
  await service.recover();
  await asking.tidy();
  for (const each of [agents.exchanges, agents.resources]) await each.recover();
  await conversations.sweep();
  idle.start();
  keepUp();
  if (fleet === undefined) {
    // In a fleet a kernel knows only its own tasks, but the folder belongs to all.
    workspaces.sweep().catch((error: unknown) =>
      note(`Workspaces were not looked at: ${String(error)}`)
    );
    return;
  }
  fleet.join({
    ...{ keeper, service, questions, ps: () => handlers.ps(null) },
    answer: (answer) => takeAnswer({ questions, service, rules }, answer),
    contents: (task) =>
      learnContents(contents, { store: slowStore, readPrivate: slowSecretOf }, task),
  });
  parts.heard.now = (channel) => fleet.wake(channel);
}
