/**
 * One host's session: a call goes to the first free task. Usually there is one. Another is created
 * while the first is busy or waits for a person; staged changes wait with the task that made them.
 * docs/decision/0016. Used by host.ts.
 * @module
 */
import { CallId, QuestionId, ToolName } from "../../contracts/authority/mod.ts";
import { Fault, toJson } from "../../contracts/base/mod.ts";
import type { ToolDescriptor } from "../../contracts/tool/mod.ts";
import type { ServeAnswer, ServeCall, ServeResult } from "../../contracts/wire/mod.ts";
import { canonicalJson } from "../../port/mod.ts";
import { type Flight, makeFlights, openLanes } from "./lanes.ts";
import { nextWithin } from "./result.ts";
import type { Lane, LaneEnd } from "./lane.ts";

/** Maximum calls of a session that wait for a person. */
const MAX_WAITING = 16;

/** Tools that leave nothing behind in the task that calls them. */
const PLAIN = /^(?:file|text|wiki)_/;
/** Proposes staged changes when a host leaves without proposing them. */
const LAST = ToolName.parse("patch_apply");

/** A host's session. */
export interface HostSession {
  tools(): Promise<readonly ToolDescriptor[]>;
  /** Makes a call, or reports the state of an equal call made before. */
  call(asked: ServeCall): Promise<ServeResult>;
  /** Passes on the person's decision. Throws `refused` for a question of another call. */
  answer(said: ServeAnswer): Promise<void>;
  cancel(call: string): Promise<void>;
  close(): Promise<void>;
}

/** The powers of {@link openHostSession}. */
export interface HostSessionParts {
  /** Creates one more task, ready for calls. */
  openLane(on: { onProgress(text: string): void; onTools(): void }): Promise<Lane>;
  toolsOf(lane: Lane): Promise<readonly ToolDescriptor[]>;
  tell(end: LaneEnd, lane: Lane | undefined): ServeResult;
  /** Whether a task has staged changes. */
  hasStaged(lane: Lane): Promise<boolean>;
  /** Signs and passes on the decision of the host's person about a question of a task. */
  answerFor(lane: Lane, question: QuestionId, allow: boolean): Promise<void>;
  onProgress(call: string, text: string): void;
  onTools(): void;
  pause(ms: number, signal: AbortSignal): Promise<void>;
  now(): number;
}

/** Opens a session with its first task. */
export async function openHostSession(parts: HostSessionParts): Promise<HostSession> {
  const flights = makeFlights(parts.now);
  let closed = false;
  let known: readonly ToolDescriptor[] = [];
  const refresh = async (): Promise<readonly ToolDescriptor[]> => {
    const lane = lanes.awake();
    if (lane !== undefined) known = await parts.toolsOf(lane);
    return known;
  };
  const lanes = await openLanes({
    flights,
    openLane: (of) =>
      parts.openLane({
        onProgress(text): void {
          for (const id of of()?.ids ?? []) parts.onProgress(id, text);
        },
        onTools: parts.onTools,
      }),
  });

  await refresh();

  const settle = (flight: Flight, end: LaneEnd): LaneEnd => {
    flight.end = end;
    flight.endedAt = parts.now();
    const { lane } = flight;
    if (end.kind === "waiting" && lane !== undefined) {
      flight.next = lane.next(flight.id).then(
        (next) => settle(flight, next),
        (error) => fail(flight, error),
      );
      // The error goes to a host that asks again; perhaps none does.
      flight.next.catch(() => undefined);
    }
    lanes.pump();
    return end;
  };
  const fail = (flight: Flight, error: unknown): never => {
    flights.remove(flight);
    lanes.pump();
    throw error;
  };

  const fly = async (flight: Flight, { tool, args }: ServeCall): Promise<LaneEnd> => {
    const lane = await lanes.provide(flight);
    if (flight.cancelled || closed) return { kind: "over", why: "it was cancelled" };
    return await lane.call({
      id: flight.id,
      name: ToolName.parse(tool),
      arguments: JSON.stringify(args),
    });
  };

  const begin = (asked: ServeCall, key: string): Flight => {
    if (flights.count(({ end }) => end?.kind === "waiting") >= MAX_WAITING) {
      throw new Fault(
        "rateLimited",
        'Cannot call: too many calls of this session wait for a person; see "remit questions"',
      );
    }
    const flight: Flight = {
      ...{ id: CallId.parse(asked.call), key, ids: new Set([asked.call]), lane: undefined },
      reads: known.some(({ name, category }) => name === asked.tool && category === "read") &&
        PLAIN.test(asked.tool),
      ...{ end: undefined, endedAt: 0, cancelled: false },
      next: Promise.resolve({ kind: "over", why: "it never began" }),
    };
    flights.add(flight);
    flight.next = fly(flight, asked).then(
      (end) => settle(flight, end),
      (error) => fail(flight, error),
    );
    return flight;
  };

  /** The state of a waiting call after `waitMs` milliseconds. */
  const later = async (flight: Flight, end: LaneEnd, waitMs: number): Promise<LaneEnd> => {
    if (waitMs === 0) return end;
    return await nextWithin(flight.next, { waitMs, instead: end, pause: parts.pause });
  };

  /** Reports to the host; after a reported outcome, the same arguments make a new call. */
  const told = (flight: Flight, end: LaneEnd): ServeResult => {
    if (end.kind === "waiting") {
      if (end.called !== undefined) flight.key = undefined;
    } else if (flight.end === end) flights.remove(flight);
    return parts.tell(end, flight.lane);
  };

  return Object.freeze<HostSession>({
    tools: refresh,
    async call(asked): Promise<ServeResult> {
      if (closed) throw new Fault("gone", "Cannot call: the session is over");
      const key = `${asked.tool}\n${canonicalJson(toJson(asked.args))}`;
      const found = flights.find(asked.call, key);
      // Changes staged since then make another patch, though the call's arguments are the same.
      const other = asked.tool === LAST && found?.ids.has(asked.call) === false && lanes.staging();
      const before = other ? undefined : found;
      const spent = before === undefined ? lanes.spent() : undefined;
      if (spent !== undefined) return parts.tell({ kind: "over", why: spent }, undefined);
      const flight = before ?? begin(asked, key);
      flight.ids.add(asked.call);
      const end = flight.end ?? await flight.next;
      if (end.kind !== "waiting") return told(flight, end);
      const { waiting } = parts.tell(end, flight.lane);
      // A person who can be asked now is asked at once.
      if (waiting?.elicit === true || waiting === undefined) return told(flight, end);
      parts.onProgress(asked.call, `waits for a person: question ${waiting.question}`);
      return told(flight, await later(flight, end, asked.waitMs));
    },
    async answer({ call, question, allow }): Promise<void> {
      const flight = flights.byId(call);
      const { lane, end } = flight ?? {};
      if (
        flight === undefined || lane === undefined || end?.kind !== "waiting" ||
        end.question.id !== question
      ) throw new Fault("refused", `Cannot answer question ${question}: it is not that call's`);
      if (parts.tell(end, lane).waiting?.elicit !== true) {
        throw new Fault("refused", `Cannot answer question ${question}: a host may not answer it`);
      }
      await parts.answerFor(lane, QuestionId.parse(question), allow);
      // The call continues: a host that asks now waits for its outcome.
      if (flight.end === end) flight.end = undefined;
    },
    async cancel(call): Promise<void> {
      const flight = flights.byId(call);
      if (flight === undefined) return;
      flight.cancelled = true;
      lanes.withdraw(flight);
      const { lane, end } = flight;
      if (lane === undefined) return;
      if (end === undefined) return await lane.interrupt();
      if (end.kind !== "waiting") return;
      flights.remove(flight);
      await lanes.drop(lane);
    },
    async close(): Promise<void> {
      closed = true;
      await lanes.close(async (lane) => {
        if (!await parts.hasStaged(lane)) return;
        await lane.call({ id: CallId.parse("end-of-session"), name: LAST, arguments: "{}" });
      });
    },
  });
}
