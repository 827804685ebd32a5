/**
 * The PostgreSQL engine's schema as a numbered list of steps, from the first version. A released
 * step is never changed: a new one is added. The functions check every permission: on tables, a
 * kernel's role may only read. docs/decision/0102. Used by store.ts.
 * @module
 */
import type { Migration } from "../migrations.ts";
import { FLEET_STEP, WITHDRAWING_STEP } from "./_fleet_step.ts";
import { RESERVATION_STEP } from "./_reservation_step.ts";

const TABLES = `
CREATE TABLE remit.kernels(
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,47}$'),
  role text NOT NULL,
  incarnation bigint NOT NULL DEFAULT 0,
  last_commit bigint NOT NULL DEFAULT 0,
  last_seq bigint NOT NULL DEFAULT 0,
  last_place bigint NOT NULL DEFAULT 0,
  public_key text,
  address text NOT NULL DEFAULT '',
  version text NOT NULL DEFAULT '',
  mounts text[] NOT NULL DEFAULT '{}',
  state text NOT NULL DEFAULT 'up' CHECK (state IN ('up', 'cordoned', 'draining')),
  lease_until timestamptz NOT NULL DEFAULT '-infinity',
  seen timestamptz NOT NULL DEFAULT now(),
  late bigint NOT NULL DEFAULT 0
);
CREATE TABLE remit.tasks(
  task text PRIMARY KEY CHECK (task ~ '^t[0-9a-z]{12}$'),
  owner int NOT NULL REFERENCES remit.kernels(id),
  epoch bigint NOT NULL DEFAULT 1,
  mounts text[] NOT NULL DEFAULT '{}',
  over boolean NOT NULL DEFAULT false
);
CREATE INDEX tasks_owner ON remit.tasks(owner) WHERE NOT over;
CREATE TABLE remit.events(
  kernel int NOT NULL,
  seq bigint NOT NULL CHECK (seq > 0),
  scope int NOT NULL,
  task text NOT NULL,
  n bigint NOT NULL,
  kind text NOT NULL,
  at bigint NOT NULL,
  hash bytea NOT NULL CHECK (length(hash) = 32),
  body text NOT NULL,
  PRIMARY KEY (kernel, seq)
);
CREATE UNIQUE INDEX events_chain ON remit.events(scope, task, n);
CREATE TABLE remit.adopted(
  kernel int NOT NULL,
  seq bigint NOT NULL CHECK (seq > 0),
  task text NOT NULL,
  n bigint NOT NULL,
  PRIMARY KEY (kernel, seq)
);
CREATE UNIQUE INDEX adopted_chain ON remit.adopted(kernel, task, n);
CREATE TABLE remit.blobs(
  scope int NOT NULL,
  task text NOT NULL,
  digest bytea NOT NULL CHECK (length(digest) = 32),
  salt bytea NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (scope, task, digest)
);
CREATE TABLE remit.documents(
  kernel int NOT NULL,
  kind text NOT NULL,
  id text NOT NULL,
  task text NOT NULL,
  place bigint NOT NULL,
  version bigint NOT NULL CHECK (version > 0),
  state text NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (kernel, kind, id)
);
CREATE INDEX documents_place ON remit.documents(kernel, kind, place);
CREATE INDEX documents_state ON remit.documents(kernel, kind, state, place);
CREATE INDEX documents_task ON remit.documents(task, kind);
CREATE VIEW remit.log WITH (security_invoker = true) AS
  SELECT kernel, seq, scope, task, n, kind, at, hash, body FROM remit.events
  UNION ALL
  SELECT a.kernel, a.seq, e.scope, a.task, a.n, e.kind, e.at, e.hash, e.body
    FROM remit.adopted a JOIN remit.events e ON e.scope = 0 AND e.task = a.task AND e.n = a.n;
`;

// Triggers repeat the effect of the grants, so that an open session of the owner, or a restored
// dump with other rights, changes no event.
const APPEND_ONLY = `
CREATE FUNCTION remit.append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'events are append-only' USING ERRCODE = '42501'; END $$;
CREATE TRIGGER events_no_change BEFORE UPDATE OR DELETE ON remit.events
  FOR EACH ROW EXECUTE FUNCTION remit.append_only();
CREATE TRIGGER events_no_truncate BEFORE TRUNCATE ON remit.events
  FOR EACH STATEMENT EXECUTE FUNCTION remit.append_only();
CREATE TRIGGER adopted_no_change BEFORE UPDATE OR DELETE ON remit.adopted
  FOR EACH ROW EXECUTE FUNCTION remit.append_only();
CREATE TRIGGER adopted_no_truncate BEFORE TRUNCATE ON remit.adopted
  FOR EACH STATEMENT EXECUTE FUNCTION remit.append_only();
`;

const FUNCTIONS = `
-- The row of a kernel, locked, where the session may speak for it. Throws RM004 and RM001.
CREATE FUNCTION remit.own_kernel(k int, inc bigint) RETURNS remit.kernels
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE own remit.kernels;
BEGIN
  SELECT * INTO own FROM remit.kernels WHERE id = k FOR NO KEY UPDATE;
  IF NOT FOUND OR own.role <> session_user THEN
    RAISE EXCEPTION 'this role does not speak for kernel %', k USING ERRCODE = 'RM004';
  END IF;
  IF own.incarnation <> inc THEN
    RAISE EXCEPTION 'another process has registered as kernel "%" since', own.name USING ERRCODE = 'RM001';
  END IF;
  RETURN own;
END $$;

-- Registers a process as a kernel: what registered before as the same one is fenced from now on.
CREATE FUNCTION remit.register(k_name text, lease_ms bigint)
RETURNS TABLE (id int, incarnation bigint, last_commit bigint, last_seq bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE own remit.kernels;
BEGIN
  INSERT INTO remit.kernels(name, role) VALUES (k_name, session_user) ON CONFLICT (name) DO NOTHING;
  SELECT * INTO own FROM remit.kernels x WHERE x.name = k_name FOR NO KEY UPDATE;
  IF own.role <> session_user THEN
    RAISE EXCEPTION 'kernel "%" is another role''s', k_name USING ERRCODE = 'RM004';
  END IF;
  RETURN QUERY UPDATE remit.kernels x SET incarnation = x.incarnation + 1, seen = clock_timestamp(),
      lease_until = clock_timestamp() + lease_ms * interval '1 millisecond'
    WHERE x.id = own.id RETURNING x.id, x.incarnation, x.last_commit, x.last_seq;
END $$;

-- One batch, whole or not at all. Sent again after a lost connection it changes nothing a second time: "turn" says
-- which of this kernel's commits it is. "held" and "epochs" are the tasks it writes to, with the epochs it holds;
-- "homes" the machines of new ones. Each statement costs: what can be one is one.
-- INVARIANT: this kernel's row is locked first, and whoever takes a task over locks it, too: what is read here of owners
-- stands until the commit. (test: a task is claimed once its owner's lease has run out)
CREATE FUNCTION remit.append(
  k int, inc bigint, turn bigint, held text[], epochs bigint[], homes text[],
  e_task text[], e_n bigint[], e_kind text[], e_at bigint[], e_hash text[], e_body text[], e_old int[],
  b_task text[], b_digest text[], b_salt text[], b_bytes text[],
  d_kind text[], d_id text[], d_task text[], d_expect bigint[], d_state text[], d_body text[]
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  base bigint; next_place bigint; until timestamptz; i int; found_rows bigint; whose int; since bigint; ended boolean;
  count_new int := coalesce(cardinality(array_positions(d_expect, 0)), 0);
BEGIN
  UPDATE remit.kernels x SET last_commit = turn, last_seq = x.last_seq + cardinality(e_task),
      last_place = x.last_place + count_new
    WHERE x.id = k AND x.role = session_user AND x.incarnation = inc AND x.last_commit = turn - 1
    RETURNING x.last_seq - cardinality(e_task), x.last_place - count_new, x.lease_until
    INTO base, next_place, until;
  IF NOT FOUND THEN
    DECLARE own remit.kernels := remit.own_kernel(k, inc);
    BEGIN
      IF own.last_commit = turn THEN RETURN own.last_seq; END IF;
      RAISE EXCEPTION 'commit % follows %', turn, own.last_commit USING ERRCODE = 'RM001';
    END;
  END IF;
  FOR i IN 1 .. cardinality(held) LOOP
    SELECT x.owner, x.epoch INTO whose, since FROM remit.tasks x WHERE x.task = held[i];
    IF NOT FOUND THEN
      IF epochs[i] <> 0 THEN
        RAISE EXCEPTION 'task % is not there', held[i] USING ERRCODE = 'RM002';
      END IF;
      INSERT INTO remit.tasks(task, owner, mounts)
        VALUES (held[i], k, ARRAY(SELECT jsonb_array_elements_text(homes[i]::jsonb)));
    ELSIF whose <> k OR since <> epochs[i] THEN
      RAISE EXCEPTION 'task % is another kernel''s since its epoch %', held[i], since USING ERRCODE = 'RM002';
    END IF;
  END LOOP;
  IF until < clock_timestamp() AND 'intent' = ANY (e_kind) THEN
    RAISE EXCEPTION 'the lease of kernel % has run out', k USING ERRCODE = 'RM005';
  END IF;
  -- A task that the batch does not hold has no scope, which no row may be without (23502).
  IF cardinality(e_task) > 0 THEN
    INSERT INTO remit.events(kernel, seq, scope, task, n, kind, at, hash, body)
      SELECT k, base + x.i,
        CASE WHEN x.task = ANY (held) THEN 0 WHEN remit.is_task(x.task) THEN NULL ELSE k END,
        x.task, x.n, x.kind, x.at, decode(x.hash, 'hex'), x.body
      FROM unnest(e_task, e_n, e_kind, e_at, e_hash, e_body, e_old)
        WITH ORDINALITY x(task, n, kind, at, hash, body, old, i) WHERE x.old = 0;
  END IF;
  IF 1 = ANY (e_old) THEN
    INSERT INTO remit.adopted(kernel, seq, task, n)
      SELECT k, base + x.i, e.task, e.n
      FROM unnest(e_task, e_n, e_hash, e_old) WITH ORDINALITY x(task, n, hash, old, i)
      JOIN remit.events e ON e.scope = 0 AND e.task = x.task AND e.n = x.n AND e.hash = decode(x.hash, 'hex')
      WHERE x.old = 1 AND x.task = ANY (held);
    GET DIAGNOSTICS found_rows = ROW_COUNT;
    IF found_rows <> (SELECT count(*) FROM unnest(e_old) o WHERE o = 1) THEN
      RAISE EXCEPTION 'an adopted event is not there' USING ERRCODE = 'RM003';
    END IF;
  END IF;
  IF cardinality(b_task) > 0 THEN
    INSERT INTO remit.blobs(scope, task, digest, salt, bytes)
      SELECT CASE WHEN x.task = ANY (held) THEN 0 WHEN remit.is_task(x.task) THEN NULL ELSE k END,
        x.task, decode(x.digest, 'hex'), decode(x.salt, 'base64'), decode(x.bytes, 'base64')
      FROM unnest(b_task, b_digest, b_salt, b_bytes) x(task, digest, salt, bytes) ON CONFLICT DO NOTHING;
  END IF;
  FOR i IN 1 .. cardinality(d_kind) LOOP
    IF d_expect[i] = 0 THEN
      next_place := next_place + 1;
      INSERT INTO remit.documents(kernel, kind, id, task, place, version, state, body)
        VALUES (k, d_kind[i], d_id[i], d_task[i], next_place, 1, d_state[i], d_body[i]) ON CONFLICT DO NOTHING;
    ELSE
      UPDATE remit.documents x SET task = d_task[i], version = x.version + 1, state = d_state[i], body = d_body[i]
        WHERE x.kernel = k AND x.kind = d_kind[i] AND x.id = d_id[i] AND x.version = d_expect[i];
    END IF;
    IF NOT FOUND THEN
      RAISE EXCEPTION '% "%" is not at version % any more', d_kind[i], d_id[i], d_expect[i] USING ERRCODE = 'RM003';
    END IF;
    IF d_kind[i] = 'task' AND d_id[i] = ANY (held) THEN
      ended := d_state[i] IN ('done', 'failed', 'cancelled', 'expired', 'archived');
      UPDATE remit.tasks x SET over = ended WHERE x.task = d_id[i] AND x.over <> ended;
    END IF;
  END LOOP;
  RETURN base + cardinality(e_task);
END $$;

CREATE FUNCTION remit.erase(k int, inc bigint, of_task text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE own remit.kernels; gone bigint;
BEGIN
  own := remit.own_kernel(k, inc);
  IF remit.is_task(of_task) AND NOT EXISTS (SELECT 1 FROM remit.tasks t WHERE t.task = of_task AND t.owner = k) THEN
    RETURN 0;
  END IF;
  DELETE FROM remit.blobs b WHERE b.task = of_task AND b.scope = CASE WHEN remit.is_task(of_task) THEN 0 ELSE k END;
  GET DIAGNOSTICS gone = ROW_COUNT;
  RETURN gone;
END $$;
`;

const NAMES = `
CREATE FUNCTION remit.is_task(name text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
  AS $$ SELECT name ~ '^t[0-9a-z]{12}$' $$;
CREATE FUNCTION remit.my_kernels() RETURNS SETOF int LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog
  AS $$ SELECT id FROM remit.kernels WHERE role = session_user $$;
`;

// A kernel may read of others the public parts of events, with digests instead of content, and the
// states of tasks and questions. Content and all other documents are private.
const RIGHTS = `
ALTER TABLE remit.blobs ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_blobs ON remit.blobs FOR SELECT USING (
  scope IN (SELECT remit.my_kernels()) OR (scope = 0 AND EXISTS (
    SELECT 1 FROM remit.tasks t WHERE t.task = blobs.task AND t.owner IN (SELECT remit.my_kernels()))));
ALTER TABLE remit.documents ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_documents ON remit.documents FOR SELECT USING (
  kind IN ('task', 'question') OR kernel IN (SELECT remit.my_kernels()));
REVOKE ALL ON ALL TABLES IN SCHEMA remit FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA remit FROM PUBLIC;
DO $$ BEGIN
  IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'remit_kernels') THEN
    CREATE ROLE remit_kernels NOLOGIN;
  END IF;
END $$;
GRANT USAGE ON SCHEMA remit TO remit_kernels;
GRANT SELECT ON ALL TABLES IN SCHEMA remit TO remit_kernels;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA remit TO remit_kernels;
REVOKE ALL ON FUNCTION remit.own_kernel(int, bigint) FROM remit_kernels;
`;

/** The steps of the schema, oldest first. The first applies where there is no schema `remit`. */
export const POSTGRES_MIGRATIONS: readonly Migration[] = Object.freeze([
  Object.freeze({
    version: 1,
    name: "events, blobs, documents, kernels and the tasks that they own",
    sql: `${TABLES}${NAMES}${APPEND_ONLY}${FUNCTIONS}${RIGHTS}`,
  }),
  FLEET_STEP,
  RESERVATION_STEP,
  WITHDRAWING_STEP,
]);
