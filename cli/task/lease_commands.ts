/** `lease …`, `grants`, `can`, `outbox …`: shows leases, remembered answers and artifacts, and tests rules. @module */
import { join } from "node:path";
import { ArtifactId, LeaseId } from "../../contracts/authority/mod.ts";
import { EXIT, Fault, type Json, toJson } from "../../contracts/base/mod.ts";
import { Profile } from "../../contracts/task/mod.ts";
import { displayBlock } from "../../text/mod.ts";
import {
  askKernel,
  cell,
  type Command,
  idOf,
  printJson,
  printLines,
  recordOf,
  rowsOf,
  taskOf,
  wishOf,
} from "../command.ts";
import { loadConfig } from "../../config/files.ts";
import { narrowMount } from "../../config/layers.ts";
import { parseMount, resolveMount } from "../../launch/disk/mounts.ts";
import { has, oneOf } from "../arguments/parse_arguments.ts";
import { grantLines, leaseLines } from "./held_lines.ts";
import { tableLines } from "../terminal/table.ts";
import { spanText } from "../terminal/span.ts";
import { serversOf } from "../mcp/work.ts";
import type { Basic } from "../powers.ts";

const maybeTask = (command: Command): Json =>
  command.parsed.args.length === 0 ? {} : { task: taskOf(command) };

/** The leases in force, and ended ones of tasks that still have a process. */
async function currentLeases(command: Command): Promise<Json> {
  const now = command.powers.environment.now();
  const answer = rowsOf(await askKernel(command, "leases", {}));
  const holds = (lease: Readonly<Record<string, Json>>): boolean =>
    lease["revokedAt"] === undefined && Number(lease["expiresAt"] ?? 0) > now;
  if (answer.every(holds)) return answer;
  const live = new Set(
    rowsOf(await askKernel(command, "ps", null)).filter((each) => each["exit"] === null)
      .map((each) => each["task"]),
  );
  return answer.filter((lease) => holds(lease) || live.has(lease["task"] ?? null));
}

/** `lease list [TASK] [--all]`: with a task or `--all`, includes leases that ended with their task. */
export async function leaseList(command: Command): Promise<number> {
  const whole = has(command.parsed, "all") || command.parsed.args.length > 0;
  const answer = whole
    ? await askKernel(command, "leases", maybeTask(command))
    : await currentLeases(command);
  if (command.json) return printJson(command, answer);
  const { environment, screen } = command.powers;
  return printLines(command, leaseLines(answer, { now: environment.now(), width: screen.width }));
}

/** `lease revoke LEASE`: also revokes every lease derived from it. */
export async function leaseRevoke(command: Command): Promise<number> {
  const lease = idOf(LeaseId, command.parsed.args[0] ?? "", "lease");
  const answer = await askKernel(command, "revoke", { lease });
  const { revoked } = recordOf(answer);
  if (command.json) printJson(command, answer);
  else {
    const all = Array.isArray(revoked) ? revoked : [];
    printLines(
      command,
      all.length === 0 ? ["it had ended already"] : all.map((each) => `revoked  ${cell(each)}`),
    );
  }
  return EXIT.success;
}

/** `grants [TASK]`. */
export async function grantsCommand(command: Command): Promise<number> {
  const answer = await askKernel(command, "grants", maybeTask(command));
  return command.json
    ? printJson(command, answer)
    : printLines(command, grantLines(answer, command.powers.screen.width));
}

/** `can AGENT TOOL JSON`: exits 0 when the call would run or be asked about, 64 when it would be refused. */
export async function canCommand(command: Command<Basic | "mcpStore">): Promise<number> {
  const { powers, parsed, places } = command;
  const [agent = "", tool = "", text = ""] = parsed.args;
  try {
    JSON.parse(text);
  } catch (cause) {
    throw new Fault("invalidInput", `Cannot read the arguments: "${text}" is no JSON`, { cause });
  }
  const mounts = (parsed.flags.get("mount") ?? []).map(parseMount).map((wish) =>
    resolveMount(wish, { environment: powers.environment, disk: powers.disk, places })
  );
  const config = loadConfig(powers.disk, places, { folder: powers.environment.cwd, mounts });
  const kernels = powers.kernels(places);
  const link = await kernels.provide(
    wishOf(config, { mounts: mounts.map((mount) => mount.dir), exact: true }),
  );
  let answer: Json;
  try {
    answer = await link.ask(
      "can",
      toJson({
        agent,
        tool,
        arguments: text,
        profile: oneOf(parsed, "profile", Profile.options) ?? "operator",
        mounts: mounts.map((mount) => narrowMount(mount, config)),
        mcp: serversOf(command, config),
      }),
    );
  } finally {
    link.close();
  }
  const decision = recordOf(answer);
  const kind = decision["kind"];
  if (command.json) printJson(command, answer);
  else {
    const line = (name: string, value: Json | undefined): string[] =>
      value === undefined ? [] : [`${name.padEnd(8)} ${cell(value, 500)}`];
    printLines(command, [
      kind === "refuse" ? "no" : kind === "ask" ? "yes, after asking you" : "yes",
      ...line("rule", decision["rule"]),
      ...line("why", decision["why"]),
      ...line("mode", decision["mode"]),
      ...line("effect", decision["effect"]),
      ...line("step", decision["step"]),
      ...line("lease", decision["lease"]),
    ]);
  }
  return kind === "refuse" ? EXIT.refused : EXIT.success;
}

/** `outbox list [TASK]`. */
export async function outboxList(command: Command): Promise<number> {
  const answer = await askKernel(command, "outbox", maybeTask(command));
  if (command.json) return printJson(command, answer);
  const now = command.powers.environment.now();
  const rows = rowsOf(answer).map((artifact) => [
    cell(artifact["id"]),
    cell(artifact["task"]),
    cell(artifact["state"]),
    `${cell(artifact["bytes"])} B`,
    cell(artifact["colour"]),
    spanText(Number(artifact["expiresAt"] ?? now) - now),
    cell(artifact["name"], 200),
  ]);
  const heads = ["ARTIFACT", "TASK", "STATE", "SIZE", "COLOUR", "LEFT", "NAME"];
  return printLines(
    command,
    tableLines(heads, rows, command.powers.screen.width, "the outbox is empty"),
  );
}

async function findArtifact(command: Command): Promise<ReturnType<typeof recordOf>> {
  const id = idOf(ArtifactId, command.parsed.args[0] ?? "", "artifact");
  const found = rowsOf(await askKernel(command, "outbox", {})).find((each) => each["id"] === id);
  if (found === undefined) throw new Fault("notFound", `Cannot show artifact ${id}: there is none`);
  return found;
}

/** `outbox show ARTIFACT`: its description, and its text where the content is on this machine. */
export async function outboxShow(command: Command): Promise<number> {
  const artifact = await findArtifact(command);
  if (command.json) printJson(command, artifact);
  else {
    printLines(
      command,
      Object.entries(artifact).map(([name, value]) =>
        `${cell(name).padEnd(11)} ${cell(value, 300)}`
      ),
    );
    const { places, powers } = command;
    const path = join(
      places.kernel,
      "work",
      cell(artifact["task"]),
      "content",
      cell(artifact["digest"]),
    );
    const bytes = powers.disk.read(path);
    if (bytes !== undefined) {
      const text = new TextDecoder().decode(bytes);
      printLines(command, [
        "",
        ...displayBlock(text, { prefix: "│ ", maxLines: 200, max: 100_000 }),
      ]);
    }
  }
  return EXIT.success;
}

/** `outbox release ARTIFACT`. */
export async function outboxRelease(command: Command): Promise<number> {
  const artifact = idOf(ArtifactId, command.parsed.args[0] ?? "", "artifact");
  const answer = await askKernel(command, "release", { artifact });
  return command.json
    ? printJson(command, answer)
    : printLines(command, [`released  ${cell(recordOf(answer)["name"], 255)}`]);
}
