/** `remit swarm list`, `report` and `stop`. @module */
import { EXIT } from "../../contracts/base/mod.ts";
import { plotLines, spentOf, trackRecord } from "../../swarm/mod.ts";
import { displayText } from "../../text/mod.ts";
import { type Command, commandText, printJson, printLines } from "../command.ts";
import type { Basic } from "../powers.ts";
import { swarmHome, swarmPlaces, swarmState, swarmStates } from "./store.ts";
import { issueRows, summaryLines } from "./words.ts";

type View = Command<Basic | "swarm">;

/** Whether a command runs the swarm now. */
function runs(command: View, id: string): boolean {
  using held = command.powers.swarm.lock(swarmPlaces(swarmHome(command), id).lock);
  return held === undefined;
}

/** `swarm list [SWARM]`. */
export function swarmListCommand(command: View): Promise<number> {
  const { powers, parsed } = command;
  const home = swarmHome(command);
  const [id] = parsed.args;
  if (id !== undefined) {
    const state = swarmState(powers.swarm, home, id);
    if (command.json) {
      printJson(command, { id, running: runs(command, id), issues: issueRows(state) });
    } else printLines(command, [...summaryLines(state).slice(1)]);
    return Promise.resolve(EXIT.success);
  }
  const { states, unread } = swarmStates(powers.swarm, home);
  for (const { id, why } of unread) powers.screen.say(`${id}  ${displayText(why, { max: 300 })}`);
  const rows = states.map((state) => {
    const { begun, finished, issues, merges } = state;
    return {
      id: state.id,
      begun: new Date(begun.at).toISOString(),
      status: runs(command, state.id) ? "running" : finished?.status ?? "interrupted",
      merged: merges.length,
      issues: issues.size,
      money: spentOf(state),
      folder: begun.folder,
    };
  });
  return Promise.resolve(
    command.json ? printJson(command, rows) : printLines(
      command,
      rows.length === 0
        ? ["no swarm has been run in this state"]
        : rows.map((row) =>
          `${row.id}  ${row.begun.slice(0, 16)}  ${
            row.status.padEnd(11)
          }  ${row.merged} of ${row.issues} merged  ${row.money.toFixed(4)} USD  ${
            displayText(row.folder, { max: 100 })
          }`
        ),
    ),
  );
}

/** `swarm report`: the record of roles and models over all swarms of this state. */
export function swarmReportCommand(command: View): Promise<number> {
  const { powers } = command;
  const rows = trackRecord(swarmStates(powers.swarm, swarmHome(command)).states);
  return Promise.resolve(
    command.json
      ? printJson(command, rows)
      : printLines(command, plotLines(rows, (text) => displayText(text, { max: 60 }))),
  );
}

/** `swarm stop SWARM`: its tasks are cancelled; merged changes stay in its mirror. */
export function swarmStopCommand(command: View): Promise<number> {
  const { powers, parsed } = command;
  const home = swarmHome(command);
  const { id } = swarmState(powers.swarm, home, parsed.args[0] ?? "");
  const running = runs(command, id);
  if (running) powers.swarm.write(swarmPlaces(home, id).stop, "");
  return Promise.resolve(
    command.json ? printJson(command, { id, running }) : printLines(command, [
      running
        ? `${id} ends: its tasks are cancelled`
        : `${id} is not running; "${
          commandText(command, `swarm resume ${id}`)
        }" would go on with it`,
    ]),
  );
}
