/** The worker's side of the port: answers `start` and `turn`, hears events. @module */
import { Fault } from "../contracts/fault.ts";
import type { Json } from "../contracts/json.ts";
import type { Port, PortHandler } from "../contracts/port.ts";
import type {
  CapList,
  SignalBody,
  StartBody,
  TurnBody,
  TurnEnd,
  WorkerEvents,
} from "../contracts/wire_worker.ts";
import { isForeignProgram, LAL_PROGRAM } from "../contracts/lal.ts";
import { loadForeign } from "./foreign.ts";
import { makeKernelPorts } from "./kernel_ports.ts";
import { makeLal } from "./lal.ts";
import type { Program } from "./program.ts";
import { makeStandard } from "./standard.ts";

/**
 * Makes the handler of a worker. `start` comes once, turns one after another. Faults: `conflict` for a
 * second start or a turn within a turn, `invalidInput` for a turn before the start or an unknown op.
 */
export function makeWorker(
  port: Pick<Port, "ask" | "tell">,
): PortHandler & { still(): boolean } {
  let program: Program | undefined;
  let foreign = false;
  let busy = false;
  let caps: CapList = { model: 0, tools: 0, children: 0 };

  // TRUST: bodies are the kernel's own; it is trusted by everything that it started.
  function start(body: StartBody): null {
    if (program !== undefined) throw new Fault("conflict", "Cannot start: it has been started");
    caps = body.caps;
    const kernel = makeKernelPorts(port, () => caps);
    foreign = isForeignProgram(body.program);
    program = body.program === undefined
      ? makeStandard(kernel, body)
      : body.program === LAL_PROGRAM
      ? makeStandard(kernel, body, makeLal(body.conversation))
      : loadForeign(kernel, body, body.program);
    return null;
  }

  async function turn({ message, tools }: TurnBody): Promise<TurnEnd> {
    if (program === undefined) throw new Fault("invalidInput", "Cannot run a turn: not started");
    if (busy) throw new Fault("conflict", "Cannot run a turn: another one is running");
    busy = true;
    try {
      return await program.turn(message, tools);
    } finally {
      busy = false;
    }
  }

  const tellSignal = ({ signal, pressure }: SignalBody): void => program?.told(signal, pressure);

  return Object.freeze({
    // Programs of ours have no clock.
    still: () => !foreign,
    async ask(op: string, body: Json): Promise<Json> {
      switch (op) {
        case "start":
          return start(body as unknown as StartBody);
        case "ping":
          return null;
        case "turn":
          return await turn(body as unknown as TurnBody) as unknown as Json;
        case "signal":
          tellSignal(body as unknown as SignalBody);
          // Before anything that is sent in its knowledge.
          port.tell("heard", null);
          return null;
        default:
          throw new Fault(
            "invalidInput",
            `Cannot serve ${JSON.stringify(op)}: unknown to a worker`,
          );
      }
    },
    tell(op: string, body: Json): void {
      const event = { op, body } as unknown as WorkerEvents;
      switch (event.op) {
        case "signal":
          return tellSignal(event.body);
        case "chunk":
          return program?.chunk(event.body);
        case "capsChanged":
          return program?.capsChanged();
        case "modelChanged":
          caps = { ...caps, model: event.body.model };
          return program?.modelChanged(event.body.contextWindow);
      }
    },
  });
}
