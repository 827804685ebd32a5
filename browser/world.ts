/** Runs Remit's own functions in the page, isolated from the page's scripts. @module */
import { Fault } from "../contracts/base/fault.ts";
import type { Cdp } from "./events.ts";

/** An isolated world in the current page. */
export interface World {
  /**
   * Calls a function of page_functions.ts on the element `id`, with texts, booleans and elements as
   * arguments.
   *
   * @throws Fault `conflict` when the element is gone
   */
  call(source: string, id: number, args?: readonly Argument[]): Promise<unknown>;
}

/** An argument: a value, or an element by its number. */
export type Argument = string | boolean | { readonly id: number };

/** Makes a world in the main frame; it ends with the document. */
export async function openWorld(cdp: Cdp): Promise<World> {
  const { frameTree } = await cdp.send("Page.getFrameTree");
  const { executionContextId } = await cdp.send("Page.createIsolatedWorld", {
    frameId: frameTree.frame.id,
    worldName: "remit",
  });

  const handle = async (id: number): Promise<string> => {
    try {
      const { object } = await cdp.send("DOM.resolveNode", {
        backendNodeId: id,
        executionContextId,
      });
      if (object.objectId !== undefined) return object.objectId;
    } catch (cause) {
      throw gone(cause);
    }
    throw gone();
  };

  return Object.freeze({
    async call(source: string, id: number, args: readonly Argument[] = []): Promise<unknown> {
      const objectId = await handle(id);
      const handed = await Promise.all(
        args.map(async (each) =>
          typeof each === "object" ? { objectId: await handle(each.id) } : { value: each }
        ),
      );
      const { result, exceptionDetails } = await cdp.send("Runtime.callFunctionOn", {
        ...{ functionDeclaration: source, objectId, arguments: handed, returnByValue: true },
      });
      if (exceptionDetails !== undefined) throw gone(exceptionDetails.text);
      return result.value;
    },
  });
}

function gone(cause?: unknown): Fault {
  return new Fault(
    "conflict",
    "Cannot act on this: the page changed meanwhile; take a new browser_snapshot",
    { cause },
  );
}
