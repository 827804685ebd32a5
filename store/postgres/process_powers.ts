/** Gives back what the prelude took: the database's client writes its messages with Node's `Buffer` and `process`. @module */
import { Buffer } from "node:buffer";
import process from "node:process";

for (const [name, value] of Object.entries({ Buffer, process })) {
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}
