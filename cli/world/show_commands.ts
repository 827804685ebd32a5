/** `remit world show` and `remit world review`. @module */
import { EXIT, Fault } from "../../contracts/base/mod.ts";
import {
  happeningLine,
  personLines,
  reportLines,
  reportOf,
  reviewReflection,
} from "../../world/mod.ts";
import { displayText } from "../../text/mod.ts";
import { flag, has } from "../arguments/parse_arguments.ts";
import { type Command, printJson, printLines } from "../command.ts";
import { needWorld } from "./place.ts";

/** `world show [PERSON]`. */
export function worldShow(command: Command): Promise<number> {
  const { state } = needWorld(command, flag(command.parsed, "world"));
  const [name] = command.parsed.args;
  const said = has(command.parsed, "said");
  const happenings = state.log.filter(({ kind, who }) =>
    kind === "said" && (name === undefined || who === name)
  );
  const person = name === undefined || !Object.hasOwn(state.people, name)
    ? undefined
    : state.people[name];
  if (name !== undefined && person === undefined) {
    const known = Object.keys(state.people).join(", ");
    throw new Fault(
      "notFound",
      `Cannot show "${displayText(name, { max: 64 })}": in this world there are ${known}`,
    );
  }
  if (said) {
    if (command.json) printJson(command, happenings);
    else printLines(command, happenings.map(happeningLine));
  } else if (name !== undefined && person !== undefined) {
    if (command.json) printJson(command, { name, ...person });
    else printLines(command, personLines(name, person));
  } else {
    const report = reportOf(state);
    if (command.json) printJson(command, report);
    else printLines(command, reportLines(report));
  }
  return Promise.resolve(EXIT.success);
}

/** `world review PERSON N keep|forget`. */
export function worldReview(command: Command): Promise<number> {
  const [person = "", n = "", word = ""] = command.parsed.args;
  if (word !== "keep" && word !== "forget") {
    throw new Fault(
      "invalidInput",
      `Cannot review: say keep or forget, not ${JSON.stringify(word)}`,
    );
  }
  const world = needWorld(command, flag(command.parsed, "world"));
  const keep = word === "keep";
  world.save(reviewReflection(world.state, { person, n: Number(n.replace(/^#/, "")), keep }));
  return Promise.resolve(
    command.json
      ? printJson(command, { person, n: Number(n.replace(/^#/, "")), kept: keep })
      : printLines(command, [keep ? "kept: it is YELLOW now" : "forgotten"]),
  );
}
