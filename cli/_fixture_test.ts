/** Hands for tests: a real disk in a temporary folder, a screen that remembers, a fake kernel. @module */
import { join } from "node:path";
import {
  CONTROL_VERSION,
  Fault,
  type Json,
  Question,
  type StagedChange,
  toJson,
  type WatchEvent,
} from "../contracts/mod.ts";
import { sha256Hex } from "../port/digest.ts";
import { makePort } from "../port/mod.ts";
import { makeDisk } from "./disk_powers.ts";
import type { Around, Hands, KernelLink, Kernels, KernelWish, Keyboard, Screen } from "./hands.ts";
import { greet, type Wire } from "./link.ts";
import { makePaint } from "./paint.ts";
import { fakeModels } from "./_models_fixture_test.ts";
import { realMcpStore } from "./_mcp_store_fixture_test.ts";
import type { LoginHands } from "./mcp_login_hands.ts";
import { NO_LOGIN } from "./_mcp_login_fixture_test.ts";
import type { McpStoreHands } from "./mcp_store.ts";
import type { ModelHands } from "./model_hands.ts";
import { REAL_REVIEW } from "./_mcp_fixture_test.ts";
import { realPlugins } from "./_plugins_fixture_test.ts";
import { fakeWikis } from "./_wiki_fixture_test.ts";
import { NO_GATEWAY } from "./_serve_fixture_test.ts";
import { NO_SERVICE_HANDS } from "./_service_fixture_test.ts";
import type { ServeHands } from "./serve_hands.ts";
import type { WikiHands } from "./wiki_hands.ts";
import type { PluginKit } from "./plugin_kit.ts";
import { type Places, preparePlaces } from "./places.ts";

import { watchFolder } from "./watch_folder_powers.ts";

/** A screen that remembers. */
export interface FakeScreen extends Screen {
  readonly outs: string[];
  readonly lines: string[];
}

/** Makes a screen of 80 columns without colours. */
export function fakeScreen(): FakeScreen {
  const outs: string[] = [];
  const lines: string[] = [];
  return {
    outs,
    lines,
    out: (text) => void outs.push(text),
    say: (line) => void lines.push(line),
    hint: () => undefined,
    paint: makePaint(false),
    width: 80,
  };
}

/** A keyboard that types what it is given, one line a question. */
export function fakeKeyboard(lines: readonly (string | undefined)[]): Keyboard & {
  readonly prompts: string[];
} {
  const left = [...lines];
  const prompts: string[] = [];
  return {
    prompts,
    line(prompt): Promise<string | undefined> {
      prompts.push(prompt);
      return Promise.resolve(left.shift());
    },
  };
}

/** What a fake kernel does with each request. */
export type FakeOps = Readonly<Record<string, (body: Json, kernel: FakeKernel) => Json>>;

/** A kernel without any process, over the real port. */
export interface FakeKernel {
  readonly asked: (readonly [string, Json])[];
  tell(event: WatchEvent): void;
  end(status: string, exit: number | null): void;
}

/** Starts a fake kernel; gives the link that a command line holds. */
export async function fakeKernel(
  ops: FakeOps,
): Promise<{ readonly link: KernelLink; readonly kernel: FakeKernel }> {
  const asked: (readonly [string, Json])[] = [];
  let toLink: (bytes: Uint8Array) => void = () => undefined;
  let ended: () => void = () => undefined;
  const port = makePort({
    write: (bytes) => toLink(bytes.slice()),
    handler: {
      ask(op, body): Json {
        if (op === "hello") {
          return {
            version: CONTROL_VERSION,
            harness: "fake",
            pid: 1,
            receiptKey: "k",
            head: "0".repeat(64),
          };
        }
        asked.push([op, body]);
        const serve = ops[op];
        if (serve === undefined) throw new Fault("invalidInput", `Cannot serve "${op}"`);
        return serve(body, kernel);
      },
      tell: () => undefined,
    },
  });
  const kernel: FakeKernel = {
    asked,
    tell: (event) => port.tell("event", toJson(event)),
    end: (status, exit) => port.tell("end", { task: TASK, status, exit }),
  };
  const wire: Wire = {
    write: (bytes) => port.feed(bytes.slice()),
    close: () => {
      port.close("the command line has gone");
      ended();
    },
    onBytes(take, end): void {
      toLink = take;
      ended = end;
    },
  };
  return { link: await greet(wire, "test"), kernel };
}

/** A task's id. */
export const TASK = "t000000000001";
/** A question's id. */
export const QUESTION = "q000000000001";

/** An event as a kernel tells it. */
export function told(n: number, event: string, body: object, inner?: object): WatchEvent {
  return {
    kind: "event",
    n,
    at: 1_700_000_000_000 + n,
    event,
    body,
    ...(inner === undefined ? {} : { private: inner }),
  };
}

/** A task as a kernel shows it. */
export function taskJson(more: object = {}): Json {
  return toJson({
    id: TASK,
    request: "tidy",
    objective: "tidy",
    session: "s000000000001",
    ingress: { channel: "pipe", principal: "alice", colour: "BLUE", label: "internal" },
    profile: "operator",
    model: "scripted:x.yaml",
    harness: "fake",
    status: "done",
    phase: "work",
    exit: 0,
    answer: "All done.",
    mounts: [],
    limits: LIMITS,
    colour: "BLUE",
    label: "internal",
    questions: [],
    artifacts: [],
    applied: [],
    createdAt: 1,
    updatedAt: 2,
    archived: false,
    purged: false,
    ...more,
  });
}

const LIMITS = {
  inputTokens: 1,
  outputTokens: 1,
  totalTokens: 1,
  contextWindow: 1,
  money: 1,
  wallClockMs: 1,
  generationTimeoutMs: 1,
  toolTimeoutMs: 1,
  iterations: 1,
  toolCalls: 1,
  callsByEffect: {},
  retries: 1,
  resultBytes: 1,
  writtenBytes: 1,
  children: 1,
  depth: 1,
  questions: 1,
  moneyPerMinute: 1,
};

/** A question as a kernel asks it. */
export function question(more: object = {}): Question {
  return Question.parse({
    id: QUESTION,
    task: TASK,
    pid: 2,
    kind: "consent",
    turn: 1,
    scope: {
      tool: "patch_apply",
      descriptor: "a".repeat(64),
      arguments: "b".repeat(64),
      effect: "mutateLocal",
      colour: "RED",
      label: "internal",
      session: "s000000000001",
    },
    argumentsText: "{}",
    summary: "Apply 1 change to desk",
    changes: [],
    executes: [],
    sources: [{ source: "desk/inbox/mail.eml", colour: "RED", label: "internal" }],
    rule: "built-in: changes are reviewed",
    asked: 1,
    createdAt: 1,
    expiresAt: 2,
    state: "open",
    ...more,
  });
}

/** Writes contents into a content folder and gives the change from one to the other. */
export function change(
  folder: string,
  path: string,
  contents: { readonly base?: string; readonly next?: string },
): StagedChange {
  const store = (
    text: string | undefined,
  ): { digest: ReturnType<typeof sha256Hex> } | undefined => {
    if (text === undefined) return undefined;
    const digest = sha256Hex(text);
    Deno.writeTextFileSync(join(folder, digest), text);
    return { digest };
  };
  const [base, next] = [store(contents.base), store(contents.next)];
  return {
    path,
    ...(base === undefined ? {} : { base: base.digest }),
    ...(next === undefined ? {} : { next: next.digest }),
    bytes: contents.next?.length ?? 0,
    colour: "YELLOW",
    label: "internal",
  };
}

/** A fresh folder with home, state and runtime places, and hands that reach a fake kernel. */
export function fakeHands(
  parts: {
    readonly ops?: FakeOps;
    readonly keyboard?: Keyboard;
    readonly input?: string;
    readonly plugins?: PluginKit;
    readonly models?: ModelHands;
    readonly wikis?: WikiHands;
    readonly serve?: ServeHands;
    readonly mcpStore?: McpStoreHands;
    readonly login?: LoginHands;
    /** Beside HOME, USER and XDG_RUNTIME_DIR. */
    readonly env?: Readonly<Record<string, string>>;
  } = {},
): Hands & {
  readonly screen: FakeScreen;
  readonly root: string;
  readonly kernels_: { last: FakeKernel | undefined; wishes: KernelWish[] };
} {
  const root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "remit-cli-test-" }));
  const env: Readonly<Record<string, string>> = {
    HOME: root,
    XDG_RUNTIME_DIR: join(root, "run"),
    USER: "alice",
    ...parts.env,
  };
  Deno.mkdirSync(join(root, "work"));
  const around: Around = {
    cwd: join(root, "work"),
    env: (name) => env[name],
    uid: Deno.uid() ?? 0,
    linux: true,
    command: "remit",
    home: Deno.realPathSync(new URL("..", import.meta.url)),
    now: () => 1_700_000_000_000,
    id: (prefix) => `${prefix}000000000001`,
  };
  const seen: { last: FakeKernel | undefined; wishes: KernelWish[] } = {
    last: undefined,
    wishes: [],
  };
  const open = async (): Promise<KernelLink> => {
    const { link, kernel } = await fakeKernel(parts.ops ?? {});
    seen.last = kernel;
    return link;
  };
  const disk = makeDisk();
  const kernelsOf = (places: Places): Kernels => ({
    find: open,
    provide(wish): Promise<KernelLink> {
      preparePlaces(disk, places, around.uid);
      seen.wishes.push(wish);
      return open();
    },
  });
  return {
    root,
    screen: fakeScreen(),
    keyboard: parts.keyboard,
    disk,
    around,
    interrupts: { listen: () => () => undefined },
    receipts: { verify: () => ({ ok: true, reason: "it holds" }) },
    plugins: parts.plugins ?? realPlugins(around.home),
    mcp: REAL_REVIEW,
    models: parts.models ?? fakeModels(),
    wikis: parts.wikis ?? fakeWikis(),
    serve: parts.serve ?? NO_GATEWAY,
    service: NO_SERVICE_HANDS,
    backup: {
      copy: () => Promise.reject(new Error("no database is copied here")),
      verify: () => Promise.reject(new Error("no log is checked here")),
    },
    mcpStore: parts.mcpStore ?? realMcpStore(),
    login: parts.login ?? NO_LOGIN,
    watch: watchFolder,
    startPeer: () => Promise.reject(new Error("no other Remit is started here")),
    serveSite: () => ({ origin: "http://127.0.0.1:1", close: () => Promise.resolve() }),
    walls: { look: () => Promise.resolve([{ wall: "deno", stands: true, says: "yes" }]) },
    kernels: kernelsOf,
    kernels_: seen,
    readInput: () => Promise.resolve(parts.input ?? ""),
  };
}
