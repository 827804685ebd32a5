/** Defines what the PDF library looks up while loading, and never uses for text. @module */

class DOMMatrix {}

if (!("DOMMatrix" in globalThis)) {
  Object.defineProperty(globalThis, "DOMMatrix", { value: DOMMatrix, configurable: true });
}
