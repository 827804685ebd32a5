/** A mount as the process is told of it that works in its folder. @module */
import type { HostMount } from "../../contracts/wire_toolhost.ts";
import type { Mount } from "../../contracts/workspace.ts";

/** `root` is the folder by the name that the process knows it by. */
export function hostMount(
  { name, mode, colour, label, marks, apart }: Omit<Mount, "dir">,
  root: string,
): HostMount {
  return {
    ...{ name, root, mode, colour, label },
    ...(apart === undefined ? {} : { apart }),
    // Absent properties stay absent; zod's types say that they may be undefined.
    marks: marks.map(({ path, colour, label }) => ({
      path,
      ...(colour === undefined ? {} : { colour }),
      ...(label === undefined ? {} : { label }),
    })),
  };
}
