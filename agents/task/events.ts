/** What the log says when a task begins and when something is said to it. @module */
import {
  type ChatMessage,
  type Digest,
  type NewEvent,
  type TaskRequest,
  toJson,
} from "../../contracts/mod.ts";

/** What a kernel's tasks begin in. */
export interface Origin {
  readonly harness: string;
  /** Digest of the kernel's rules. */
  readonly rules: Digest;
}

/** A task begins. */
export function createdEvent(
  request: TaskRequest,
  { harness, rules }: Origin,
): NewEvent & { readonly private: NonNullable<NewEvent["private"]> } {
  return {
    kind: "taskCreated",
    body: {
      session: request.session,
      principal: request.ingress.principal,
      channel: request.ingress.channel,
      profile: request.profile,
      model: request.model.ref,
      ...{ harness, rules },
      interactive: request.interactive,
    },
    private: { request: toJson(request) },
  };
}

/** A person says something to a task. */
export function saidEvent(message: ChatMessage): NewEvent {
  return { kind: "message", body: { role: "user" }, private: { message: toJson(message) } };
}
