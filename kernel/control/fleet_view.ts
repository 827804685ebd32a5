/**
 * What a gateway passes on for a person with a token: a few operations, each over all kernels. TRUST: the gateway is
 * not trusted, and whoever has a token is not at the operator's terminal: answers carry their own signature, requests
 * are nobody's own words, and nothing of this machine is handed out. docs/decision/0117.
 * @module
 */
import { Fault } from "../../contracts/base/fault.ts";
import type { Json } from "../../contracts/base/json.ts";
import { Profile, type TaskRequest } from "../../contracts/task/task.ts";
import { type ControlRequest, parseControlRequest } from "./control_ops.ts";
import { firstPage } from "./control.ts";
import type { VIEW_OPS, ViewBody } from "./fleet_ops.ts";
import type { FleetViews } from "./operator.ts";

type Viewed = Extract<ControlRequest, { op: typeof VIEW_OPS[number] }>;

/** This kernel's own handlers of the operations that can be viewed. */
export type ViewHandlers = {
  readonly [Op in Viewed["op"]]: (body: Extract<Viewed, { op: Op }>["body"]) => unknown;
};

/** Makes the operation `view`. Without a fleet this kernel is all there is. */
export function makeView(
  own: ViewHandlers,
  fleet: FleetViews | undefined,
): (asked: ViewBody) => unknown {
  return async ({ op, body, ...who }) => {
    const request = parseControlRequest(op, body) as Viewed;
    if (request.op === "fleet") return await own.fleet(fleetBody(request.body, who));
    if (fleet === undefined) return await answered(own, request);
    switch (request.op) {
      case "tasks":
        return await fleet.tasks(request.body);
      case "ps":
        return await fleet.ps();
      case "log":
        return await fleet.owns(request.body.task)
          ? await own.log(request.body)
          : await firstPage(fleet.log(request.body.task, request.body.from));
      case "costs":
        return await fleet.costs(request.body);
      case "auditVerify":
        return await fleet.verify(request.body.head);
      default:
        return await answered(own, request);
    }
  };
}

function answered(own: ViewHandlers, request: Viewed): unknown {
  // The union's op picks the handler of the same op, so body and handler agree.
  return (own[request.op] as (body: unknown) => unknown)(request.body);
}

type Who = Pick<ViewBody, "by" | "profile">;
type FleetBody = Extract<Viewed, { op: "fleet" }>["body"];

function fleetBody(body: FleetBody, who: Who): FleetBody {
  if (body.kind === "enroll") {
    throw new Fault(
      "refused",
      "Cannot enroll a kernel from here: its address holds the database's password, which no gateway hands out; say it on a kernel's machine",
    );
  }
  return body.kind === "run" ? { kind: "run", request: outsiders(body.request, who) } : body;
}

const lesser = (one: Profile, other: Profile): Profile =>
  Profile.options.indexOf(one) > Profile.options.indexOf(other) ? one : other;

/** A request as whoever has a token may make it. */
function outsiders(request: TaskRequest, { by, profile }: Who): TaskRequest {
  const here: readonly (readonly [string, Json | undefined])[] = [
    ["a folder", request.mounts.length > 0 ? true : undefined],
    ["a wiki", request.memory !== undefined || request.wikis !== undefined ? true : undefined],
    ["an imported server", request.mcp !== undefined ? true : undefined],
  ];
  const found = here.find(([, there]) => there !== undefined);
  if (found !== undefined) {
    throw new Fault(
      "refused",
      `Cannot run it from here with ${
        found[0]
      }: what lies on a kernel's machine is handed over there; say "run --anywhere" on that machine`,
    );
  }
  const { folder: _folder, ...rest } = request;
  return {
    ...rest,
    profile: lesser(request.profile, profile),
    ingress: { channel: "http", principal: `token-${by}`, colour: "YELLOW", label: "internal" },
    onQuestion: "queue",
    interactive: false,
  };
}
