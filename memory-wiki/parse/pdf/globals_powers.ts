/** What the library for PDF looks for as it is loaded, and never uses when it reads text. @module */

class DOMMatrix {}

if (!("DOMMatrix" in globalThis)) {
  Object.defineProperty(globalThis, "DOMMatrix", { value: DOMMatrix, configurable: true });
}
