/**
 * What a run of an agent of others has beside a program's: its folder at its own path, the client that speaks to it,
 * and a relay to its provider, which alone knows the key.
 * @module
 */
import * as z from "zod";
import { Fault } from "../../../contracts/base/fault.ts";
import type {
  AgentHandover,
  ForeignAgent,
  RelaySetup,
} from "../../../contracts/tool/foreign_agent.ts";
import type { KernelConfig, Secret } from "../../../contracts/wire/wire_control.ts";
import { lineOfAgentRelay } from "../../core/start/agent_line.ts";
import { AGENT_PLACES, placeInside, SYSTEM } from "../../core/start/command_line.ts";
import type { WallConfig } from "../../core/start/line_parts.ts";
import type { RunPowers } from "../command/command_spawn_powers.ts";
import type { AgentRun, AgentRuns } from "../command/run.ts";

/** What {@link makeAgentRuns} is handed. */
export interface AgentRunsParts {
  readonly config: WallConfig & Pick<KernelConfig, "bundles" | "runtime">;
  readonly programs: RunPowers;
  readonly disk: {
    makeDir(path: string): Promise<void>;
    remove(path: string): Promise<void>;
  };
  /** A secret that the operator keeps now. */
  secret(name: string): Secret | undefined;
  readonly powers: { after(ms: number, call: () => void): () => void; token(): string };
}

/** Milliseconds in which a relay listens. */
const READY_MS = 15_000;
/** Refusals that are told of a run. */
const MAX_TOLD = 20;
/** Folders of the walls themselves: a copy cannot lie there. */
const OWN = ["/proc", "/dev", "/etc", "/run", "/m", "/tmp/home", ...SYSTEM];
/** Flags of Deno for the client: what it may do is what the walls let it. */
const CLIENT = [
  "run",
  "--quiet",
  "--no-prompt",
  "--no-config",
  "--no-lock",
  "--allow-all",
  "--v8-flags=--max-old-space-size=128",
];

const Said = z.union([
  z.object({ ready: z.literal(true) }),
  z.object({ refused: z.string().max(512) }),
  z.object({ failed: z.string().max(512) }),
  z.object({ tokens: z.object({ input: z.int().min(0), output: z.int().min(0) }) }),
]);

/** Makes the runs of a kernel. */
export function makeAgentRuns(parts: AgentRunsParts): AgentRuns {
  return Object.freeze<AgentRuns>({
    async begin(agent, { cwd, stdin, folders, mounts }) {
      const at: Record<string, string> = {};
      for (const { name, dir } of folders) {
        if (mounts.includes(name)) at[name] = shown(agent, dir);
      }
      const relay = agent.provider === undefined
        ? undefined
        : await startRelay(parts, agent, agent.provider);
      const walls = {
        ...{ client: parts.config.bundles.agentClient, at, tree: agent.tree },
        socket: relay?.socket,
      };
      const { words, env, files } = agent;
      const handover: AgentHandover = {
        ...{ words, env, files, request: stdin, cwd: placeInside({ agent: walls }, cwd) },
        ...(relay === undefined ? {} : { socket: AGENT_PLACES.socket }),
      };
      return Object.freeze<AgentRun>({
        line: { agent: walls, args: [...CLIENT, AGENT_PLACES.client] },
        stdin: JSON.stringify(handover),
        told: () => relay?.told() ?? "",
        close: () => relay?.close() ?? Promise.resolve(),
      });
    },
  });
}

function shown({ name }: ForeignAgent, dir: string): string {
  const own = OWN.find((folder) => dir === folder || dir.startsWith(`${folder}/`));
  if (own === undefined && dir !== "/" && dir !== "/tmp") return dir;
  throw new Fault(
    "refused",
    `Cannot run ${name} over "${dir}": its walls have a folder of their own there; copy the folder elsewhere`,
  );
}

interface Relay extends Pick<AgentRun, "told" | "close"> {
  readonly socket: string;
}

async function startRelay(
  { config, programs, disk, secret, powers }: AgentRunsParts,
  { name, tokens }: ForeignAgent,
  { wire, origin, secret: wanted }: NonNullable<ForeignAgent["provider"]>,
): Promise<Relay> {
  const key = secret(wanted);
  if (key === undefined || key.origin !== origin) {
    throw new Fault(
      "refused",
      `Cannot run ${name}: no secret "${wanted}" is kept for ${origin}; "remit secret set ${wanted}" keeps one`,
    );
  }
  const { hostname: host, port, protocol } = new URL(origin);
  // As clearRooms finds it after a crash.
  const token = powers.token().replaceAll(/[^A-Za-z0-9]/g, "").slice(0, 12);
  const room = `${config.runtime}/agents/run-${token}`;
  await disk.makeDir(room);
  const setup: RelaySetup = {
    ...{ wire, origin, tokens, header: key.header, value: `${key.prefix}${key.value}` },
  };
  const ready = Promise.withResolvers<void>();
  const told: string[] = [];
  let used = { requests: 0, input: 0, output: 0 }, rest = "", more = 0;
  const decoder = new TextDecoder();
  const note = (line: string): void => {
    if (told.length < MAX_TOLD) told.push(line);
    else more += 1;
  };
  const hear = (line: string): void => {
    // TRUST: the relay holds what an agent sent.
    const said = Said.safeParse(parsed(line)).data;
    if (said === undefined) return;
    if ("ready" in said) ready.resolve();
    else if ("refused" in said) note(`refused at the provider's relay: ${said.refused}`);
    else if ("failed" in said) note(`provider: ${said.failed}`);
    else {
      const { input, output } = said.tokens;
      used = {
        ...{ requests: used.requests + 1, input: used.input + input },
        output: used.output + output,
      };
    }
  };
  let errors = "";
  const program = programs.run({
    ...lineOfAgentRelay(config, {
      ...{ room, socketName: "s", host },
      port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port),
    }),
    stdin: new TextEncoder().encode(JSON.stringify(setup)),
    onOutput(chunk) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = (lines.pop() ?? "").slice(0, 4_096);
      lines.forEach(hear);
    },
    onErrors(chunk) {
      errors = (errors + new TextDecoder().decode(chunk)).slice(-1_000);
    },
  });
  const failed = (why: string): Fault =>
    new Fault("unavailable", `Cannot run ${name}: the relay to its provider ${why}`);
  const close = async (): Promise<void> => {
    program.kill();
    await program.ended;
    await disk.remove(room);
  };
  const cancel = powers.after(READY_MS, () => ready.reject(failed("does not listen")));
  void program.ended.then(() => ready.reject(failed(`ended: ${errors.slice(-300)}`)));
  try {
    await ready.promise;
  } catch (error) {
    await close();
    throw error;
  } finally {
    cancel();
  }
  return Object.freeze({
    socket: `${room}/s`,
    told: () =>
      [
        ...told,
        ...(more === 0 ? [] : [`… and ${more} more of these`]),
        `provider: ${used.requests} requests, ${used.input} tokens in, ${used.output} out`,
      ].map((line) => `${line}\n`).join(""),
    close,
  });
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
