/** How this tool says no. @module */

/** An expected refusal: crosses to the caller as `code` and `message`. */
export class Refusal extends Error {
  /** One of the fault codes of contracts/base/fault.ts. */
  readonly code:
    | "invalidArguments"
    | "invalidInput"
    | "notFound"
    | "tooLarge"
    | "conflict"
    | "refused";

  constructor(code: Refusal["code"], message: string) {
    super(message);
    this.name = "Refusal";
    this.code = code;
  }
}
