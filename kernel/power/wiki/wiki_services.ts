/**
 * One process for each wiki that tasks hold, shared by them: it starts with the first request, ends after nobody has held
 * the wiki for a while, and is started again after it died. docs/decision/0013. Used by wiki_tools.ts; made in
 * kernel/main_tools.ts.
 * @module
 */
import { serveContents } from "../../../contracts/memory/content_trust.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import type { Json, PortHandler } from "../../../contracts/base/mod.ts";
import type { ContentTrust } from "../../../contracts/memory/mod.ts";
import type { Powers } from "../../../contracts/task/mod.ts";
import type { WikiOpen } from "../../../contracts/wire/mod.ts";
import { asJson } from "../../../port/as_json.ts";
import { type Child, unlessAborted } from "../../core/child/child.ts";
import type { Children } from "../../core/child/children.ts";
import type { WikiFolders } from "../../core/start/browser_line.ts";

/** Options of a request. */
export interface WikiAskOptions {
  readonly signal: AbortSignal;
  /** Milliseconds after which the process is killed; the next request starts it again. */
  readonly deadlineMs: number;
  /** Waits for the answer even after a cancel, because it reports what was written. */
  readonly writes?: boolean;
}

/** A wiki in use by one holder. */
export interface HeldWiki {
  /** Rejects with the wiki's own fault, `timedOut`, `cancelled`, or `upstream` when the process died. */
  ask(op: string, body: Json, options: WikiAskOptions): Promise<Json>;
  release(): void;
}

/** The wikis of a kernel. */
export interface WikiServices {
  hold(folders: WikiFolders): HeldWiki;
  close(): Promise<void>;
}

/** Milliseconds for opening: it may read an index of 10,000 pages. */
const OPEN_MS = 120_000;
/** Milliseconds before an unheld wiki's process is killed. */
const IDLE_MS = 30_000;

/** The starter, the clock, the keys and the contents. */
export interface WikiServicesParts {
  readonly children: Pick<Children, "wiki">;
  readonly powers: Pick<Powers, "after">;
  /** Raw Ed25519 public keys, base64url, whose page marks are valid. */
  readonly trustedKeys: readonly string[];
  /** Known colours and labels of contents. */
  readonly contents: ContentTrust;
}

interface Service {
  readonly folders: WikiFolders;
  holders: number;
  child: Promise<Child> | undefined;
  /** Stops the idle clock. */
  keep(): void;
}

/** Makes the wikis of a kernel; no process runs yet. */
export function makeWikiServices(
  { children, powers, trustedKeys, contents }: WikiServicesParts,
): WikiServices {
  const services = new Map<string, Service>();
  // TRUST: only the command that signs marks believes a wiki's process about a person's mark.
  const known = { of: contents.of, record: contents.record, mark: () => undefined };
  /** The kernel ingests no sources, so it parses nothing for a wiki. */
  const handler: PortHandler = Object.freeze({
    ask(op: string, body: Json): Json {
      const served = serveContents(known, op, body);
      if (served !== undefined) return served;
      throw new Fault("refused", `Cannot serve a wiki: it asked for "${op.slice(0, 64)}"`);
    },
    tell: () => undefined,
  });

  const start = async (service: Service): Promise<Child> => {
    const { folders } = service;
    const child = await children.wiki({ handler, folders });
    const open: WikiOpen = {
      folder: folders.folder,
      stateFolder: folders.stateFolder,
      create: false,
      trustedKeys: [...trustedKeys],
      readOnly: folders.readOnly,
    };
    try {
      await within(child, child.port.ask("open", asJson(open)), OPEN_MS);
      return child;
    } catch (error) {
      await child.kill();
      throw await diedOf(child, error);
    }
  };

  /** Waits for an answer; kills a process that takes too long, because it may be in a loop. */
  const within = async (child: Child, answer: Promise<Json>, ms: number): Promise<Json> => {
    let late = false;
    const disarm = powers.after(ms, () => {
      late = true;
      void child.kill();
    });
    try {
      return await answer;
    } catch (error) {
      if (!late) throw error;
      const seconds = Math.round(ms / 1_000);
      throw new Fault("timedOut", `Cannot ask the wiki: no answer in ${seconds} s`, {
        cause: error,
      });
    } finally {
      disarm();
    }
  };

  const living = (service: Service): Promise<Child> => {
    if (service.child === undefined) {
      const begun = start(service);
      service.child = begun;
      const ended = (): void => {
        if (service.child === begun) service.child = undefined;
      };
      begun.then((child) => child.exited.then(ended), ended);
    }
    return service.child;
  };

  const drop = async (key: string, service: Service): Promise<void> => {
    if (services.get(key) === service) services.delete(key);
    const child = await service.child?.catch(() => undefined);
    await child?.kill();
  };

  const ask = async (
    service: Service,
    request: { readonly op: string; readonly body: Json },
    { signal, deadlineMs, writes = false }: WikiAskOptions,
  ): Promise<Json> => {
    if (signal.aborted) throw new Fault("cancelled", "Cannot ask the wiki: cancelled");
    const child = await living(service);
    const answer = within(child, child.port.ask(request.op, request.body), deadlineMs);
    try {
      return writes ? await answer : await unlessAborted(answer, signal, "the wiki");
    } catch (error) {
      throw await diedOf(child, error);
    }
  };

  return Object.freeze<WikiServices>({
    hold(folders): HeldWiki {
      const key = `${folders.readOnly ? "r" : "w"} ${folders.stateFolder}`;
      const service: Service = services.get(key) ??
        { folders, holders: 0, child: undefined, keep: () => undefined };
      services.set(key, service);
      service.keep();
      service.holders += 1;
      let holding = true;
      return Object.freeze<HeldWiki>({
        ask: (op, body, options) =>
          holding
            ? ask(service, { op, body }, options)
            : Promise.reject(new Fault("gone", "Cannot ask the wiki: the task has ended")),
        release(): void {
          if (!holding) return;
          holding = false;
          service.holders -= 1;
          if (service.holders > 0) return;
          service.keep = powers.after(IDLE_MS, () => void drop(key, service));
        },
      });
    },
    async close(): Promise<void> {
      await Promise.all([...services].map(([key, service]) => drop(key, service)));
    },
  });
}

/** The caller's fault when the process ended during its request. */
async function diedOf(child: Child, error: unknown): Promise<unknown> {
  if (!(error instanceof Fault) || error.code !== "gone") return error;
  return new Fault("upstream", `Cannot ask the wiki: its process ${await child.end()}`, {
    cause: error,
  });
}
