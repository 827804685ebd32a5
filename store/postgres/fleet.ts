/** The store process's side of the fleet's table. docs/decision/0103. Used by service.ts. @module */
import { Fault, unreachable } from "../../contracts/base/fault.ts";
import { type Json, toJson } from "../../contracts/base/json.ts";
import type { HeadQuery, Store } from "../../contracts/task/store.ts";
import type { FleetAsk } from "../../contracts/wire/wire_store.ts";
import type { Engine } from "./engine_powers.ts";
import { damagedRow, type Row } from "../_rows.ts";
import type { Value } from "./_queries.ts";
import { documentOf, documentPage, eventOf, eventPage, integer, textOf } from "./_rows.ts";
import { makeReader, type PostgresStore } from "./store.ts";

export interface FleetParts {
  readonly engine: Engine;
  readonly store: Pick<PostgresStore, "identity" | "holds">;
  /** Makes a kernel's role; returns its address. */
  enroll(name: string): Promise<string>;
  tell(op: string, body: Json): void;
}

const EVENT = "seq, task, n, kind, at, encode(hash, 'hex') AS hash, body";
/** Channels of notices of new rows. */
const CHANNELS = ["remit_work", "remit_post", "remit_state"];
/** Most documents of one read over the fleet. */
const MAX_ROWS = 1_000;

/** Answers one kernel's {@link FleetAsk}s. */
export function makeFleet(parts: FleetParts): (body: Json) => Promise<Json> {
  const { engine, store } = parts;
  const own = [store.identity.id, store.identity.incarnation] as const;
  const call = (name: string, ...values: readonly Value[]): ReturnType<Engine["write"]> =>
    engine.write(
      `SELECT * FROM remit.${name}(${[...own, ...values].map((_, i) => `$${i + 1}`).join(",")})`,
      [...own, ...values],
    );

  // A kernel that misses a notice reads a little later.
  for (const channel of CHANNELS) {
    void engine.listen(channel, () => parts.tell("fleet", { channel })).catch(() => undefined);
  }

  return async (body) => {
    // TRUST: from this process's own kernel.
    const ask = body as unknown as FleetAsk;
    switch (ask.kind) {
      case "beat": {
        const [row] = await call("beat", ask.leaseMs, JSON.stringify(ask.about));
        if (row === undefined) throw damagedRow("this kernel");
        return { state: textOf(row, "state", "it"), waiting: integer(row, "waiting", "it") };
      }
      case "mine": {
        const rows = await engine.write(
          "SELECT task FROM remit.tasks WHERE owner = $1 AND NOT over",
          [own[0]],
        );
        return rows.map((row) => textOf(row, "task", "a task"));
      }
      case "leave":
        await call("leave");
        return null;
      case "toBeHad": {
        const [row] = await engine.read("SELECT * FROM remit.to_be_had($1)", [own[0]]);
        return { tasks: Number(row?.["tasks"]) === 1, work: Number(row?.["work"]) === 1 };
      }
      case "claim":
        return (await call("claim", ask.max)).map((row) => {
          const [task, epoch] = [textOf(row, "task", "a task"), integer(row, "epoch", "a task")];
          store.holds(task, epoch);
          return { task, epoch, former: textOf(row, "former", "a task") };
        });
      case "chain": {
        const rows = await engine.read(
          `SELECT ${EVENT} FROM remit.events WHERE scope = 0 AND task = $1 AND n >= $2 ORDER BY n LIMIT 1000`,
          [ask.task, ask.fromN],
        );
        return eventPage(rows.map(eventOf));
      }
      case "put":
        await call("put_work", ask.task, ask.request, ask.mounts);
        return null;
      case "take":
        return (await call("take_work", ask.max)).map((row) => {
          const task = textOf(row, "task", "work");
          store.holds(task, 1);
          return { task, request: textOf(row, "request", "work") };
        });
      case "withdraw": {
        const [row] = await call("withdraw_work", ask.task);
        return Number(row?.["withdraw_work"]) === 1;
      }
      case "request": {
        const [row] = await call("request_of", ask.task);
        const text = row?.["request_of"];
        return typeof text === "string" ? text : null;
      }
      case "late":
        await engine.write("SELECT remit.tell_late($1, $2, $3, $4)", [
          ...[own[0], ask.task, ask.what, ask.body],
        ]);
        return null;
      case "list":
        return toJson((await engine.read(LIST, [])).map(kernelOf));
      case "enroll":
        return await parts.enroll(ask.name);
      case "state":
        await call("set_state", ask.name, ask.state);
        return null;
      case "everywhere":
        return documentPage((await engine.read(...everywhere(ask))).map(documentOf));
      case "spent": {
        const rows = await engine.read(
          `SELECT ${EVENT} FROM remit.events WHERE scope = 0 AND (task, n) > ($1, $2) AND ` +
            "((at >= $3 AND kind IN ('modelAsked', 'modelFailed', 'inferred')) OR kind = 'processStarted') " +
            `ORDER BY task, n LIMIT ${MAX_ROWS}`,
          [ask.after.task, ask.after.n, ask.since],
        );
        return eventPage(rows.map(eventOf));
      }
      case "task": {
        const rows = await engine.read(
          "SELECT d.kind, d.id, d.task, d.version, d.body FROM remit.documents d JOIN remit.tasks t " +
            "ON t.task = d.id AND t.owner = d.kernel WHERE d.kind = 'task' AND d.id = $1",
          [ask.task],
        );
        return documentPage(rows.map(documentOf));
      }
      case "send":
        await call("send", ask.task, ask.words);
        return null;
      case "reply":
        await call("reply", ask.name, ask.words);
        return null;
      case "receive":
        return (await call("receive")).map((row) => textOf(row, "receive", "words"));
      case "sums":
        return (await call("look_sums", ask.keys, ask.seeds)).map(sumOf);
      case "allSums":
        return (await call("all_sums", ask.prefixes)).map(sumOf);
      case "hold": {
        const { id, keys, most, need, money } = ask;
        return (await call("hold", id, keys, most, need, money)).map(sumOf);
      }
      case "settle":
        await call("settle", ask.id, ask.paid);
        return null;
      case "takeRate": {
        const { key, requests, tokens, need } = ask;
        const [row] = await call("take_rate", key, requests, tokens, need);
        return row === undefined ? 0 : integer(row, "take_rate", "a rate");
      }
      case "tellRate":
        await call("tell_rate", ask.key, ask.more, ask.pauseMs);
        return null;
      case "log":
        return eventPage(
          await makeReader(engine, ask.id).events(ask.query as Parameters<Store["events"]>[0]),
        );
      case "headsOf":
        return eventPage(await makeReader(engine, ask.id).heads(ask.query as HeadQuery));
      default:
        unreachable(ask);
        throw new Fault("unknownCapability", "Cannot serve this: not handed over");
    }
  };
}

const LIST = "SELECT k.id, k.name, k.state, (k.lease_until > clock_timestamp())::int AS alive, " +
  "greatest(0, least(1e9, extract(epoch FROM k.lease_until - clock_timestamp()) * 1000))::bigint AS lease_ms, " +
  "k.address, k.version, to_jsonb(k.mounts)::text AS mounts, coalesce(k.public_key, '') AS public_key, k.late, " +
  "(SELECT count(*) FROM remit.tasks t WHERE t.owner = k.id AND NOT t.over) AS tasks FROM remit.kernels k ORDER BY k.name";

/** The newest requested documents of all kernels: by creation time, then by id. */
function everywhere(
  { of, states, prefix = "", before = "", limit = MAX_ROWS }: Extract<
    FleetAsk,
    { readonly kind: "everywhere" }
  >,
): [sql: string, values: readonly Value[]] {
  const made = of === "task" ? "{createdAt}" : "{question,createdAt}";
  const place = (body: string): string => `coalesce((${body}::json #>> '${made}')::numeric, 0)`;
  return [
    "SELECT d.kind, d.id, d.task, d.version, d.body FROM remit.documents d WHERE d.kind = $1 AND " +
    "d.state = ANY ($2::text[]) AND starts_with(d.id, $3) AND ($4 = '' OR " +
    `(${place("d.body")}, d.id) < (SELECT ${place("b.body")}, b.id FROM remit.documents b ` +
    `WHERE b.kind = $1 AND b.id = $4)) ORDER BY ${place("d.body")} DESC, d.id DESC LIMIT $5`,
    [of, states, prefix, before, Math.min(limit, MAX_ROWS)],
  ];
}

function sumOf(row: Row): Json {
  const key = textOf(row, "key", "a budget");
  const [spent, held] = [Number(row["spent"]), Number(row["held"])];
  if (!Number.isFinite(spent) || !Number.isFinite(held)) throw damagedRow("a budget");
  return { key, spent, held, ...("fits" in row ? { fits: Number(row["fits"]) } : {}) };
}

function kernelOf(row: Row): Json {
  const what = "a kernel";
  return {
    id: integer(row, "id", what),
    name: textOf(row, "name", what),
    state: textOf(row, "state", what),
    alive: integer(row, "alive", what) === 1,
    leaseMs: integer(row, "lease_ms", what),
    address: textOf(row, "address", what),
    version: textOf(row, "version", what),
    mounts: JSON.parse(textOf(row, "mounts", what)),
    publicKey: textOf(row, "public_key", what),
    tasks: integer(row, "tasks", what),
    late: integer(row, "late", what),
  };
}
