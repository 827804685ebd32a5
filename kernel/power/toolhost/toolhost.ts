/** One toolhost process: its running calls, their grants, and their end. @module */
import { causeOf } from "../../core/child/child.ts";
import { defined } from "../../core/process/defined.ts";
import * as z from "zod";
import {
  Colour,
  colourSuffices,
  Label,
  mixColour,
  mixLabel,
} from "../../../contracts/authority/colour.ts";
import type { ContentLookup, SignedContents } from "../../../contracts/memory/content_trust.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import { leaseEnded } from "../../core/lease/leases.ts";
import { Digest, type Pid } from "../../../contracts/authority/ids.ts";
import { type Json, toJson } from "../../../contracts/base/json.ts";
import type { Lease, Scope } from "../../../contracts/authority/lease.ts";
import type { Powers } from "../../../contracts/task/process.ts";
import { Source } from "../../../contracts/authority/question.ts";
import type {
  HostCallAnswer,
  HostCallBody,
  HostCancel,
  HostMount,
} from "../../../contracts/wire/wire_toolhost.ts";
import { type Mount, StagedChange } from "../../../contracts/tool/workspace.ts";
import type { Child } from "../../core/child/child.ts";
import type { Deadline, Deadlines } from "../../core/process/limits.ts";
import type { OpenGrant } from "./toolhost_judge.ts";

/** Milliseconds for a toolhost to honour a cancel before it is killed. */
const HONOUR_MS = 250;

/** A call to a toolhost. */
export interface HostCall {
  readonly pid: Pid;
  readonly body: HostCallBody;
  readonly scopes: readonly Scope[];
  readonly signal: AbortSignal;
}

/** The running calls of one process, from before its start on. */
export interface HostCalls {
  /** The grants of the running calls. */
  grants(): Iterable<OpenGrant>;
  /** Runs a call under the leases that cover its scopes. Rejects with the fault that ended it. */
  run(child: Child, call: HostCall, leases: readonly Lease[]): Promise<HostCallAnswer>;
  /** Called when a lease ends: kills the process if a running call uses the lease. */
  leaseEnded(child: Child, lease: Lease, why: "revoked" | "expired"): void;
  /** True once the process is being killed and takes no more calls. */
  doomed(): boolean;
}

interface Open {
  readonly call: HostCall;
  readonly grants: readonly OpenGrant[];
  readonly deadline: Deadline;
  /** Why the call is being ended, once it is. */
  ending: Fault | undefined;
}

/** Makes the running calls of one toolhost. */
export function makeHostCalls(
  powers: Pick<Powers, "after">,
  deadlines: Deadlines,
): HostCalls {
  const open = new Set<Open>();
  let doomed = false;
  const end = (child: Child): void => {
    doomed = true;
    void child.kill();
  };

  const ending = (child: Child, entry: Open, fault: Fault): () => void => {
    entry.ending ??= fault;
    child.port.tell("cancel", toJson({ id: entry.call.body.id } satisfies HostCancel));
    // A toolhost that does not react is killed.
    return powers.after(HONOUR_MS, () => end(child));
  };

  return Object.freeze({
    *grants(): Iterable<OpenGrant> {
      for (const { grants } of open) yield* grants;
    },
    async run(child: Child, call: HostCall, leases: readonly Lease[]): Promise<HostCallAnswer> {
      const { body, signal } = call;
      let spare = (): void => {};
      const entry: Open = {
        call,
        grants: call.scopes.flatMap((scope, i) => {
          const lease = leases[i];
          return lease === undefined ? [] : [{ scope, lease: lease.id }];
        }),
        deadline: deadlines.start(call.pid, body.deadlineMs, () => {
          const fault = new Fault("timedOut", `Cannot finish "${body.tool}": its time is up`);
          spare = ending(child, entry, fault);
        }),
        ending: undefined,
      };
      const cancel = (): void => {
        spare();
        spare = ending(child, entry, cancelled(body.tool));
      };
      open.add(entry);
      signal.addEventListener("abort", cancel, { once: true });
      try {
        if (signal.aborted) throw cancelled(body.tool);
        const answer = await child.port.ask("call", toJson(body));
        // INVARIANT: content read under an ended lease is not passed on (test: "… long read …").
        if (entry.ending !== undefined) throw entry.ending;
        return parseHostAnswer(answer, body.tool);
      } catch (error) {
        if (entry.ending !== undefined) throw entry.ending;
        const what = `Cannot finish "${body.tool}": its process ended`;
        throw await causeOf(child, error, (how) => `${what} (${how})`);
      } finally {
        spare();
        open.delete(entry);
        entry.deadline.cancel();
        signal.removeEventListener("abort", cancel);
      }
    },
    leaseEnded(child: Child, lease: Lease, why: "revoked" | "expired"): void {
      for (const entry of open) {
        if (!entry.grants.some((grant) => grant.lease === lease.id)) continue;
        const { tool } = entry.call.body;
        entry.ending ??= leaseEnded(why, (how) => `Cannot finish "${tool}": ${how}`);
        // Deno asks no permission for an open file, so only the end of the process closes it.
        end(child);
      }
    },
    doomed: () => doomed,
  });
}

function cancelled(tool: string): Fault {
  return new Fault("cancelled", `Cannot finish "${tool}": cancelled`);
}

const Answer = z.object({
  content: z.string(),
  colour: Colour,
  label: Label,
  sources: z.array(Source).max(1_000),
  value: z.unknown().optional(),
  observed: z.string().max(512).optional(),
  written: z.string().max(512).optional(),
  staged: z.array(StagedChange).max(10_000).optional(),
  unstaged: z.array(z.string().max(4_096)).max(10_000).optional(),
  writtenBytes: z.int().min(0).optional(),
  contents: z.array(Digest).max(10_000).optional(),
}).strict();

/** Parses an answer; throws `upstream`, naming the part that does not fit. */
function parseHostAnswer(raw: Json, tool: string): HostCallAnswer {
  const { success, data, error } = Answer.safeParse(raw);
  if (!success) {
    const where = error.issues[0]?.path.join(".") ?? "";
    throw new Fault("upstream", `Cannot use the answer of "${tool}": "${where}" does not parse`);
  }
  // zod keeps absent properties absent; its types cannot say so, nor that unknown JSON is Json.
  return data as HostCallAnswer;
}

/**
 * Mixes the known colours and labels of contents into an answer that came from them, and into what
 * it stages. With `whole` the answer is one named file, and gets the colour that a person signed
 * for exactly its content, whatever its folder's marks. Answers with names, or with lines of many
 * files, say more than any signed content.
 */
export function withKnown(
  answer: HostCallAnswer,
  known: ContentLookup & SignedContents,
  whole: boolean,
): HostCallAnswer {
  const { contents, ...rest } = answer;
  if (contents === undefined) return answer;
  const found = known.of(contents);
  const [only] = contents,
    signed = whole && contents.length === 1 && only !== undefined
      ? known.signed("file", only)
      : undefined;
  if (found.colour === "BLUE" && found.label === "public" && signed === undefined) return rest;
  const mixed = <T extends Pick<HostCallAnswer, "colour" | "label">>(each: T): T => ({
    ...each,
    colour: mixColour(each.colour, found.colour),
    label: mixLabel(each.label, found.label),
  });
  const read = <T extends Pick<HostCallAnswer, "colour" | "label">>(each: T): T => {
    const now = mixed(each);
    return signed !== undefined && colourSuffices(signed, now.colour)
      ? { ...now, colour: signed }
      : now;
  };
  return {
    ...read(rest),
    sources: rest.sources.map(read),
    ...(rest.staged === undefined ? {} : { staged: rest.staged.map(mixed) }),
  };
}

/** Converts a mount for a process that knows its folder as `root`. */
export function hostMount(
  { name, mode, colour, label, marks, apart }: Omit<Mount, "dir">,
  root: string,
): HostMount {
  return {
    ...{ name, root, mode, colour, label },
    ...defined({ apart }),
    marks: marks.map(({ path, colour, label }) => defined({ path, colour, label })),
  };
}

/** A lock with shared readers and exclusive writers, in order of arrival. */
export interface Turns {
  /** Runs `work` when its turn comes, exclusively if it writes. */
  run<T>(writes: boolean, work: () => Promise<T>): Promise<T>;
}

/** Makes a free lock. */
export function makeTurns(): Turns {
  const waiting: { readonly writes: boolean; readonly go: () => void }[] = [];
  let readers = 0;
  let writing = false;

  const admit = (): void => {
    for (let [next] = waiting; next !== undefined; [next] = waiting) {
      if (writing || (next.writes && readers > 0)) return;
      if (next.writes) writing = true;
      else readers++;
      waiting.shift();
      next.go();
    }
  };

  return Object.freeze({
    async run<T>(writes: boolean, work: () => Promise<T>): Promise<T> {
      await new Promise<void>((go) => {
        waiting.push({ writes, go });
        admit();
      });
      try {
        return await work();
      } finally {
        if (writes) writing = false;
        else readers--;
        admit();
      }
    },
  });
}
