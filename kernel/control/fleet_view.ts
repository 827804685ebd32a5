/**
 * Operations that a gateway passes on for the holder of a token, each over all kernels. TRUST: the
 * gateway is not trusted, and a token's holder is not at the operator's terminal. So answers to
 * questions carry their own signature, requests never count as the person's own words, and nothing
 * of this machine is returned. docs/decision/0117. Used by operator.ts.
 * @module
 */
import { Fault } from "../../contracts/base/fault.ts";
import { isObject, type Json, toJson } from "../../contracts/base/json.ts";
import type { SessionId } from "../../contracts/authority/ids.ts";
import { type ControlRequest, parseControlRequest } from "./control_ops.ts";
import { firstPage } from "./pages.ts";
import type { VIEW_OPS, ViewBody } from "./fleet_ops.ts";
import type { FleetViews } from "./operator.ts";
import { outsiders, type Who } from "./outsiders.ts";

type Viewed = Extract<ControlRequest, { op: typeof VIEW_OPS[number] }>;

/** This kernel's own handlers of these operations. */
export type ViewHandlers = {
  readonly [Op in Viewed["op"]]: (body: Extract<Viewed, { op: Op }>["body"]) => unknown;
};

/** Makes the operation `view`. Without a fleet it covers this kernel alone. `session` makes a new one. */
export function makeView(
  own: ViewHandlers,
  { fleet, session }: { readonly fleet: FleetViews | undefined; session(): SessionId },
): (asked: ViewBody) => unknown {
  return async ({ op, body, ...who }) => {
    const request = parseControlRequest(op, body) as Viewed;
    if (request.op === "fleet") return await own.fleet(fleetBody(request.body, { who, session }));
    if (request.op === "log" && (fleet === undefined || await fleet.owns(request.body.task))) {
      const page = await own.log(request.body);
      return who.profile === "operator" ? page : publicParts(page);
    }
    if (fleet === undefined) return await answered(own, request);
    switch (request.op) {
      case "tasks":
        return await fleet.tasks(request.body);
      case "ps":
        return await fleet.ps();
      case "log":
        return await firstPage(fleet.log(request.body.task, request.body.from));
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

/** Events without their private parts, which a token's holder may not read. */
function publicParts(page: unknown): Json {
  const events = toJson(page);
  if (!Array.isArray(events)) return null;
  return events.map((event) => {
    if (!isObject(event)) return null;
    const { private: _private, ...rest } = event;
    return rest;
  });
}

type FleetBody = Extract<Viewed, { op: "fleet" }>["body"];

function fleetBody(
  body: FleetBody,
  { who, session }: { readonly who: Who; session(): SessionId },
): FleetBody {
  if (body.kind === "enroll") {
    throw new Fault(
      "refused",
      "Cannot enroll a kernel from here: its address holds the database's password, which no gateway hands out; say it on a kernel's machine",
    );
  }
  return body.kind === "run"
    ? { kind: "run", request: outsiders(body.request, who, session()) }
    : body;
}
