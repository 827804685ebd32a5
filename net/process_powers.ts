/**
 * Restores the global that the prelude removed: Node's HTTP client sends bodies by its global
 * `process`. @module
 */
import process from "node:process";

Object.defineProperty(globalThis, "process", {
  value: process,
  configurable: true,
  writable: true,
});
