/** A Containerfile for `remit serve`, as text. @module */

/** What it is made of. */
export interface ContainerParts {
  /** Deno's version. */
  readonly deno: string;
  readonly port: number;
}

/** Makes it. It is built in Remit's own folder. */
export function containerFile({ deno, port }: ContainerParts): string {
  return `# Built in Remit's folder: podman build -t remit -f Containerfile .
# Run: podman run --rm -p 127.0.0.1:${port}:${port} -v remit-state:/var/lib/remit -v ./config:/etc/remit:ro remit
# Its remit.yaml is /etc/remit/remit.yaml and says "serve: { listen: 0.0.0.0:${port}, url: http://127.0.0.1:${port} }".
# Walls: inside a container bubblewrap needs user namespaces ("--security-opt seccomp=unconfined", or a runtime that
# allows them). Without them native commands and imported stdio servers are refused: "remit doctor" says what stands.
FROM denoland/deno:bin-${deno} AS deno

FROM debian:12-slim
RUN apt-get update \\
 && apt-get install -y --no-install-recommends bubblewrap util-linux ca-certificates git \\
 && rm -rf /var/lib/apt/lists/* \\
 && useradd --system --create-home --home-dir /var/lib/remit --shell /usr/sbin/nologin remit
COPY --from=deno /deno /usr/local/bin/deno
COPY . /opt/remit
ENV XDG_CONFIG_HOME=/etc XDG_CACHE_HOME=/var/cache/remit XDG_RUNTIME_DIR=/run/remit \\
    DENO_DIR=/var/cache/remit/deno DENO_NO_UPDATE_CHECK=1 NO_COLOR=1
RUN mkdir -p /var/cache/remit /run/remit /etc/remit \\
 && chown -R remit:remit /var/cache/remit /run/remit /var/lib/remit \\
 && chmod 0700 /var/cache/remit /run/remit /var/lib/remit
USER remit
WORKDIR /var/lib/remit
# Packages and programs are fetched and built here, so that a start needs no network.
RUN cd /opt/remit && deno cache cli/main.ts && /opt/remit/bin/remit ps --state /tmp/warm && rm -rf /tmp/warm
VOLUME /var/lib/remit
EXPOSE ${port}
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s \\
  CMD ["deno", "eval", "Deno.exit((await fetch('http://127.0.0.1:${port}/healthz')).ok ? 0 : 1)"]
ENTRYPOINT ["/opt/remit/bin/remit", "serve", "--state", "/var/lib/remit/state"]
`;
}
