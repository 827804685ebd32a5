/** Restores globals that the prelude hid: the database's client uses Node's `Buffer` and `process`. @module */
import { Buffer } from "node:buffer";
import process from "node:process";

for (const [name, value] of Object.entries({ Buffer, process })) {
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}
