/** The setting of hosts' sessions: flags with remit.yaml, the kernel, the person's key. @module */
import { Fault } from "../../contracts/base/mod.ts";
import { subjectOf, textOf } from "../audit/event_fields.ts";
import { type Command, commandText } from "../command.ts";
import type { Basic } from "../powers.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import { openKeyRing } from "../../config/key/ring.ts";
import { showChange } from "../question/shown_content.ts";
import { signAnswer } from "../question/sign_answer.ts";
import { kernelFor } from "../run/kernel_for.ts";
import { type RunSetting, settle } from "../run/run_setting.ts";
import { askStaged, watchTask } from "../run/watch_task.ts";
import type { HostKernel, HostParts } from "../../service/hosts/mod.ts";

/** The play of a model that is never asked: the calling program does not infer. */
const NO_PLAY = JSON.stringify({
  scenario: "a host's session",
  turns: [{ say: "Nothing is asked here." }],
});

/** Settles the setting of hosts' calls. */
export async function settleCalls(
  command: Command<Basic | "keyboard" | "mcpStore" | "models" | "wikis">,
): Promise<RunSetting> {
  return await settle(command, {
    folder: command.powers.environment.cwd,
    mounts: [],
    play: NO_PLAY,
  });
}

function hostKernel(link: KernelLink): HostKernel {
  return Object.freeze<HostKernel>({
    ask: link.ask,
    watch: (task, onSeen) =>
      watchTask(link, task, {
        from: 0,
        onSeen(seen): void {
          if (seen.kind === "progress") onSeen(seen);
          if (seen.kind !== "event") return;
          const { event } = seen;
          const read = {
            text: (field: string) => textOf(event, field),
            subject: () => subjectOf(event),
          };
          onSeen({ kind: "event", event: { ...event, ...read } });
        },
      }),
    staged: (task) => askStaged(link, task),
    close: () => link.close(),
  });
}

/** The parts that all of a command's host sessions share. */
export function hostParts(
  command: Command<Basic | "keyboard" | "mcpStore" | "models" | "serve" | "wikis">,
  { setting, link }: { readonly setting: RunSetting; readonly link: Promise<KernelLink> },
): Omit<HostParts, "own" | "tell"> {
  const { powers, places } = command;
  const kernel = link.then(hostKernel);
  // The command reports why there is no kernel.
  kernel.catch(() => undefined);
  return {
    ...{ setting, link: kernel, pause: powers.serve.pause, id: powers.environment.id },
    now: () => powers.environment.now(),
    async another() {
      const own = await powers.kernels(places).find();
      if (own === undefined) throw new Fault("gone", "Cannot go on: the kernel has ended");
      return hostKernel(own);
    },
    async settle(agent) {
      const flags = new Map(command.parsed.flags);
      if (agent !== undefined) flags.set("agent", [agent]);
      const chosen = await settle({ ...command, parsed: { ...command.parsed, flags } }, {
        ...{ folder: powers.environment.cwd, mounts: [] },
      });
      return { setting: chosen, kernel: hostKernel(await kernelFor(command, chosen)) };
    },
    sign(question, { allow, by }) {
      const decision = allow ? "allow" : "deny";
      const verdict = { decision, for: "once", by, channel: "command" } as const;
      const signer = openKeyRing(powers.disk, places).provideConsent();
      return signAnswer(question, verdict, { signer, at: powers.environment.now() });
    },
    show: (content, change) => showChange(powers.disk, content, change),
    where: (question) =>
      `${commandText(command, "questions")}\n${commandText(command, `answer ${question} allow`)}`,
  };
}
