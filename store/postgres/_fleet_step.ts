/** The step of the schema with which many kernels share work. docs/decision/0103. Used by schema.ts. @module */
import type { Migration } from "../migrations.ts";

const TABLES = `
CREATE TABLE remit.work(
  task text PRIMARY KEY CHECK (remit.is_task(task)),
  request text NOT NULL,
  mounts text[] NOT NULL DEFAULT '{}',
  made timestamptz NOT NULL DEFAULT now(),
  taken boolean NOT NULL DEFAULT false
);
CREATE INDEX work_waiting ON remit.work(made) WHERE NOT taken;
CREATE TABLE remit.late(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kernel int NOT NULL,
  task text NOT NULL,
  kind text NOT NULL,
  body text NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE TABLE remit.post(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kernel int NOT NULL REFERENCES remit.kernels(id),
  body text NOT NULL
);
`;

const FUNCTIONS = `
-- A kernel lives: its lease is counted by the database's clock alone.
CREATE FUNCTION remit.beat(k int, inc bigint, lease_ms bigint, told text)
RETURNS TABLE (state text, waiting bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE own remit.kernels; about jsonb := told;
BEGIN
  own := remit.own_kernel(k, inc);
  UPDATE remit.kernels x SET seen = clock_timestamp(),
      lease_until = clock_timestamp() + lease_ms * interval '1 millisecond',
      address = left(about->>'address', 300), version = left(about->>'version', 100),
      public_key = coalesce(x.public_key, about->>'publicKey'),
      mounts = ARRAY(SELECT jsonb_array_elements_text(about->'mounts'))
    WHERE x.id = k;
  RETURN QUERY SELECT own.state, (SELECT count(*) FROM remit.post p WHERE p.kernel = k);
END $$;

-- A kernel leaves: what it has not ended is free at once.
CREATE FUNCTION remit.leave(k int, inc bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  PERFORM remit.own_kernel(k, inc);
  UPDATE remit.kernels SET lease_until = clock_timestamp() WHERE id = k;
END $$;

-- Gives a kernel tasks of owners whose lease has run out, as far as their mounts are here. "max" of them.
CREATE FUNCTION remit.claim(k int, inc bigint, max int)
RETURNS TABLE (task text, epoch bigint, former text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE own remit.kernels; t record; next bigint;
BEGIN
  own := remit.own_kernel(k, inc);
  IF own.state <> 'up' OR own.lease_until < clock_timestamp() THEN RETURN; END IF;
  next := own.last_place;
  FOR t IN SELECT x.task, x.epoch, x.owner, o.name FROM remit.tasks x JOIN remit.kernels o ON o.id = x.owner
      WHERE NOT x.over AND x.owner <> k AND x.mounts <@ own.mounts AND o.lease_until < clock_timestamp()
      ORDER BY x.task LIMIT max FOR UPDATE OF x SKIP LOCKED LOOP
    -- Waits for an append of the former owner's that is under way, and no later one sees it as the owner.
    PERFORM 1 FROM remit.kernels o WHERE o.id = t.owner AND o.lease_until < clock_timestamp() FOR NO KEY UPDATE;
    IF NOT FOUND THEN CONTINUE; END IF;
    UPDATE remit.tasks x SET owner = k, epoch = t.epoch + 1 WHERE x.task = t.task;
    WITH moved AS (SELECT d.kind, d.id, next + row_number() OVER (ORDER BY d.place) AS place
      FROM remit.documents d WHERE d.kernel = t.owner AND d.task = t.task)
    UPDATE remit.documents d SET kernel = k, place = m.place FROM moved m
      WHERE d.kernel = t.owner AND d.kind = m.kind AND d.id = m.id;
    next := next + (SELECT count(*) FROM remit.documents d WHERE d.kernel = k AND d.task = t.task);
    task := t.task; epoch := t.epoch + 1; former := t.name;
    RETURN NEXT;
  END LOOP;
  UPDATE remit.kernels SET last_place = next WHERE id = k;
END $$;

-- Work that any kernel may do which has its mounts.
CREATE FUNCTION remit.put_work(k int, inc bigint, w_task text, w_request text, w_mounts text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  PERFORM remit.own_kernel(k, inc);
  INSERT INTO remit.work(task, request, mounts) VALUES (w_task, w_request, w_mounts);
  NOTIFY remit_work;
END $$;

-- The request of a piece of work, which is this kernel's from now on; none where another was first.
CREATE FUNCTION remit.take_work(k int, inc bigint, max int) RETURNS TABLE (task text, request text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE own remit.kernels; w record;
BEGIN
  own := remit.own_kernel(k, inc);
  IF own.state <> 'up' OR own.lease_until < clock_timestamp() THEN RETURN; END IF;
  FOR w IN SELECT x.task, x.request, x.mounts FROM remit.work x
      WHERE NOT x.taken AND x.mounts <@ own.mounts ORDER BY x.made LIMIT max FOR UPDATE SKIP LOCKED LOOP
    INSERT INTO remit.tasks(task, owner, mounts) VALUES (w.task, k, w.mounts);
    UPDATE remit.work x SET taken = true WHERE x.task = w.task;
    task := w.task; request := w.request;
    RETURN NEXT;
  END LOOP;
END $$;

-- The request of work that a kernel took and did not begin before its lease ran out: its new owner begins it.
CREATE FUNCTION remit.request_of(k int, inc bigint, w_task text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  PERFORM remit.own_kernel(k, inc);
  RETURN (SELECT w.request FROM remit.work w JOIN remit.tasks t ON t.task = w.task
    WHERE w.task = w_task AND t.owner = k);
END $$;

-- What a fenced owner did all the same is counted and told; it changes no chain.
CREATE FUNCTION remit.tell_late(k int, l_task text, l_kind text, l_body text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM remit.kernels x WHERE x.id = k AND x.role = session_user) THEN
    RAISE EXCEPTION 'this role does not speak for kernel %', k USING ERRCODE = 'RM004';
  END IF;
  INSERT INTO remit.late(kernel, task, kind, body) VALUES (k, l_task, l_kind, left(l_body, 65536));
  UPDATE remit.kernels SET late = late + 1 WHERE id = k;
END $$;

-- Whether a kernel takes work: "up", "cordoned" (no new), "draining" (no new, and it leaves when nothing is under way).
CREATE FUNCTION remit.set_state(k int, inc bigint, of_name text, to_state text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  PERFORM remit.own_kernel(k, inc);
  UPDATE remit.kernels SET state = to_state WHERE name = of_name;
  IF NOT FOUND THEN RAISE EXCEPTION 'there is no kernel "%"', of_name USING ERRCODE = 'RM006'; END IF;
  NOTIFY remit_state;
END $$;

-- Words for the kernel that owns a task: an answer, which a person has signed. Whoever carries it cannot change it.
CREATE FUNCTION remit.send(k int, inc bigint, of_task text, words text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE whose int;
BEGIN
  PERFORM remit.own_kernel(k, inc);
  SELECT owner INTO whose FROM remit.tasks t WHERE t.task = of_task;
  IF NOT FOUND THEN RAISE EXCEPTION 'there is no task "%"', of_task USING ERRCODE = 'RM006'; END IF;
  INSERT INTO remit.post(kernel, body) VALUES (whose, words);
  NOTIFY remit_post;
END $$;

CREATE FUNCTION remit.reply(k int, inc bigint, of_name text, words text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE whose int;
BEGIN
  PERFORM remit.own_kernel(k, inc);
  SELECT id INTO whose FROM remit.kernels x WHERE x.name = of_name;
  IF NOT FOUND THEN RAISE EXCEPTION 'there is no kernel "%"', of_name USING ERRCODE = 'RM006'; END IF;
  INSERT INTO remit.post(kernel, body) VALUES (whose, words);
  NOTIFY remit_post;
END $$;

CREATE FUNCTION remit.receive(k int, inc bigint) RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  PERFORM remit.own_kernel(k, inc);
  RETURN QUERY WITH gone AS (DELETE FROM remit.post p WHERE p.kernel = k RETURNING p.id, p.body)
    SELECT g.body FROM gone g ORDER BY g.id;
END $$;
`;

const RIGHTS = `
REVOKE ALL ON remit.work, remit.late, remit.post FROM PUBLIC;
GRANT SELECT ON remit.late TO remit_kernels;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA remit FROM PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA remit TO remit_kernels;
REVOKE ALL ON FUNCTION remit.own_kernel(int, bigint) FROM remit_kernels;
`;

const WITHDRAWING = `
-- Takes work out of the queue that no kernel has begun: how many rows, 0 where a kernel has it or there is none.
CREATE FUNCTION remit.withdraw_work(k int, inc bigint, w_task text) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  PERFORM remit.own_kernel(k, inc);
  UPDATE remit.work x SET taken = true WHERE x.task = w_task AND NOT x.taken;
  RETURN FOUND::int;
END $$;
REVOKE ALL ON FUNCTION remit.withdraw_work(int, bigint, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION remit.withdraw_work(int, bigint, text) TO remit_kernels;
`;

/** Removes queued work. */
export const WITHDRAWING_STEP: Migration = Object.freeze({
  version: 4,
  name: "work that is withdrawn",
  sql: WITHDRAWING,
});

/** Leases, takeover, queued work, and late effects of fenced owners. */
export const FLEET_STEP: Migration = Object.freeze({
  version: 2,
  name: "work that kernels share",
  sql: `${TABLES}${FUNCTIONS}${RIGHTS}`,
});
