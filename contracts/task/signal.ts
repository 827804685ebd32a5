/** Signals of tasks. @module */
import * as z from "zod";

/** A signal that a process of Remit can be sent. */
export const Signal = z.enum([
  "SIGTERM",
  "SIGKILL",
  "SIGSTOP",
  "SIGCONT",
  "SIGPIPE",
  "SIGCTXPRESSURE",
  "SIGXCPU",
  "SIGBRAKE",
  "SIGCAPDROP",
  "SIGCHLD",
  "SIGINT",
]);
export type Signal = z.infer<typeof Signal>;
