/** Messages between the kernel and a toolhost. @module */
import type { Json, JsonObject } from "../base/json.ts";
import type { MountMode, StagedChange } from "../tool/workspace.ts";
import type { Source } from "../authority/question.ts";
import type { Colour, Label } from "../authority/colour.ts";

/** One mount as the toolhost sees it. */
export interface HostMount {
  readonly name: string;
  /** Its path within this process: `/m/NAME` under bubblewrap, else the real folder. */
  readonly root: string;
  readonly mode: MountMode;
  readonly colour: Colour;
  readonly label: Label;
  readonly marks: readonly {
    readonly path: string;
    readonly colour?: Colour;
    readonly label?: Label;
  }[];
  /** Tools cannot name it: see Mount. */
  readonly apart?: true;
}

/** Kernel → toolhost, `setup`: once. Answered `null`. */
export interface SetupBody {
  readonly mounts: readonly HostMount[];
  /** Content-addressed files of this task: staged, base and undo contents, named by digest. */
  readonly content: string;
  readonly scratch: string;
  /** Globs of the never-list. */
  readonly never: readonly string[];
  /** The kernel's overlay of staged changes. */
  readonly overlay: readonly StagedChange[];
  readonly scratchQuota: number;
}

/** Kernel → toolhost, `call`. The kernel has allowed it; the host still checks every path itself. */
export interface HostCallBody {
  readonly id: string;
  readonly tool: string;
  readonly args: JsonObject;
  readonly deadlineMs: number;
  /** Maximum bytes of `content`. */
  readonly bytes: number;
  readonly key: string;
  /** Colour and label of the calling process: applied to staged content and scratch files. */
  readonly colour: Colour;
  readonly label: Label;
}

/** Answer to `call`. */
export interface HostCallAnswer {
  readonly content: string;
  readonly colour: Colour;
  readonly label: Label;
  readonly sources: readonly Source[];
  readonly value?: Json;
  readonly observed?: string;
  readonly written?: string;
  /** The call's staged changes; the kernel commits them with the outcome. */
  readonly staged?: readonly StagedChange[];
  /** Paths whose staged change this call reverted. */
  readonly unstaged?: readonly string[];
  readonly writtenBytes?: number;
  /**
   * SHA-256 of mount contents that this call read. The kernel adds their known colours and does not
   * pass the digests on.
   */
  readonly contents?: readonly string[];
}

/** Kernel → toolhost event, `cancel`. */
export interface HostCancel {
  readonly id: string;
}

/**
 * Toolhost tools behind the host functions of plugins; never advertised to a model. The `content`
 * of their answers is empty; `value` is the plugin's answer.
 */
export const HOST_READ = "host_read";
/** See {@link HOST_READ}. */
export const HOST_LIST = "host_list";

/** Maximum bytes of one {@link HOST_READ}. */
export const HOST_READ_BYTES = 4 * 1024 * 1024;

/**
 * The toolhost tool that searches a mount for never-listed files with more than one name. It runs
 * in a separate process, because the process that serves a task's calls may not access such files.
 */
export const HOST_SURVEY = "host_survey";

/**
 * In a fault's detail: the mount that must be surveyed before the call can be answered. In the
 * arguments of the repeated call: the answers of {@link HOST_SURVEY}, by mount.
 */
export const SECOND_NAMES = "$secondNames";
