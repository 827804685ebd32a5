/**
 * The step of the schema with which kernels share the money of budgets and the rates of providers.
 * A killed kernel's reservations remain. docs/decision/0117. Used by schema.ts.
 * @module
 */
import type { Migration } from "../migrations.ts";

const TABLES = `
CREATE TABLE remit.sums(
  key text PRIMARY KEY CHECK (length(key) < 1000),
  spent float8 NOT NULL DEFAULT 0 CHECK (spent >= 0),
  made timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE TABLE remit.holds(
  kernel int NOT NULL REFERENCES remit.kernels(id),
  incarnation bigint NOT NULL,
  id text NOT NULL CHECK (length(id) < 100),
  key text NOT NULL REFERENCES remit.sums(key) ON DELETE CASCADE,
  money float8 NOT NULL CHECK (money >= 0),
  PRIMARY KEY (kernel, id, key)
);
CREATE INDEX holds_key ON remit.holds(key);
-- What a process held that has ended, or is not heard of, may have been paid: nobody will let go of it.
CREATE VIEW remit.sums_now AS
  SELECT s.key, s.spent + coalesce(sum(h.money) FILTER (WHERE NOT h.alive), 0) AS spent,
    coalesce(sum(h.money) FILTER (WHERE h.alive), 0) AS held
  FROM remit.sums s LEFT JOIN (
    SELECT x.key, x.money, k.incarnation = x.incarnation AND k.lease_until > clock_timestamp() AS alive
    FROM remit.holds x JOIN remit.kernels k ON k.id = x.kernel) h ON h.key = s.key
  GROUP BY s.key;
CREATE TABLE remit.rates(
  key text PRIMARY KEY CHECK (length(key) < 1000),
  requests float8 NOT NULL DEFAULT 0,
  tokens float8 NOT NULL DEFAULT 0,
  per_requests float8 NOT NULL DEFAULT 0,
  per_tokens float8 NOT NULL DEFAULT 0,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  paused timestamptz NOT NULL DEFAULT 'epoch'
);
`;

const FUNCTIONS = `
-- Whether there is anything to claim, or to take: read without a lock, so that a look that finds nothing costs no commit.
CREATE FUNCTION remit.to_be_had(k int) RETURNS TABLE (tasks int, work int)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
  SELECT (EXISTS (SELECT 1 FROM remit.tasks x JOIN remit.kernels o ON o.id = x.owner
      WHERE NOT x.over AND x.owner <> k AND x.mounts <@ own.mounts AND o.lease_until < clock_timestamp()))::int,
    (EXISTS (SELECT 1 FROM remit.work w WHERE NOT w.taken AND w.mounts <@ own.mounts))::int
  FROM remit.kernels own WHERE own.id = k AND own.role = session_user
$$;

-- Sums of budgets, those that are not there yet with what the log says of them. Whoever spends of one has it here first,
-- so that a sum that is read off the log afterwards never replaces one.
CREATE FUNCTION remit.look_sums(k int, inc bigint, keys text[], seeds float8[])
RETURNS TABLE (key text, spent float8, held float8)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  PERFORM remit.own_kernel(k, inc);
  DELETE FROM remit.sums s WHERE s.made < clock_timestamp() - interval '70 days';
  INSERT INTO remit.sums(key, spent) SELECT x.key, greatest(x.seed, 0) FROM unnest(keys, seeds) x(key, seed)
    ORDER BY x.key ON CONFLICT DO NOTHING;
  RETURN QUERY SELECT s.key, s.spent, s.held FROM remit.sums_now s WHERE s.key = ANY (keys);
END $$;

-- Every sum that begins so.
CREATE FUNCTION remit.all_sums(k int, inc bigint, prefixes text[])
RETURNS TABLE (key text, spent float8, held float8)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  PERFORM remit.own_kernel(k, inc);
  RETURN QUERY SELECT s.key, s.spent, s.held FROM remit.sums_now s
    WHERE EXISTS (SELECT 1 FROM unnest(prefixes) p WHERE starts_with(s.key, p)) LIMIT 10000;
END $$;

-- Holds money of several budgets, of all or of none: "fits" says which. Sums are locked in one order. Sent again it
-- changes nothing.
CREATE FUNCTION remit.hold(k int, inc bigint, h_id text, keys text[], most float8[], need float8, h_money float8)
RETURNS TABLE (key text, spent float8, held float8, fits int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE ok boolean;
BEGIN
  PERFORM remit.own_kernel(k, inc);
  INSERT INTO remit.sums(key) SELECT x FROM unnest(keys) x ORDER BY x ON CONFLICT DO NOTHING;
  PERFORM 1 FROM remit.sums s WHERE s.key = ANY (keys) ORDER BY s.key FOR UPDATE;
  IF EXISTS (SELECT 1 FROM remit.holds h WHERE h.kernel = k AND h.id = h_id) THEN
    ok := true;
  ELSE
    SELECT bool_and(s.spent + s.held + need <= x.m * (1 + 1e-9) + 1e-12) INTO ok
      FROM unnest(keys, most) x(key, m) JOIN remit.sums_now s ON s.key = x.key;
    IF ok THEN
      INSERT INTO remit.holds(kernel, incarnation, id, key, money) SELECT k, inc, h_id, x, h_money FROM unnest(keys) x;
    END IF;
  END IF;
  RETURN QUERY SELECT s.key, s.spent, s.held, ok::int FROM remit.sums_now s WHERE s.key = ANY (keys);
END $$;

-- What was held was paid with this much. Sent again it changes nothing.
CREATE FUNCTION remit.settle(k int, inc bigint, h_id text, paid float8) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  PERFORM remit.own_kernel(k, inc);
  PERFORM 1 FROM remit.sums s WHERE s.key IN (SELECT h.key FROM remit.holds h WHERE h.kernel = k AND h.id = h_id)
    ORDER BY s.key FOR UPDATE;
  WITH gone AS (DELETE FROM remit.holds h WHERE h.kernel = k AND h.id = h_id RETURNING h.key)
    UPDATE remit.sums s SET spent = s.spent + greatest(paid, 0) FROM gone WHERE s.key = gone.key;
END $$;

-- Milliseconds until a request fits a provider's rates (0 for none, by the database's clock); it is counted when they
-- are none.
CREATE FUNCTION remit.take_rate(k int, inc bigint, r_key text, rpm float8, tpm float8, need float8) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE r remit.rates; minutes float8; wait float8;
BEGIN
  PERFORM remit.own_kernel(k, inc);
  INSERT INTO remit.rates(key) VALUES (r_key) ON CONFLICT DO NOTHING;
  SELECT * INTO r FROM remit.rates x WHERE x.key = r_key FOR UPDATE;
  minutes := greatest(0, extract(epoch FROM clock_timestamp() - r.at) / 60);
  r.requests := greatest(0, r.requests - minutes * r.per_requests);
  r.tokens := greatest(0, r.tokens - minutes * r.per_tokens);
  wait := greatest(0, extract(epoch FROM r.paused - clock_timestamp()) / 60,
    CASE WHEN rpm > 0 THEN (r.requests - greatest(0, rpm - 1)) / rpm ELSE 0 END,
    CASE WHEN tpm > 0 THEN (r.tokens - greatest(0, tpm - need)) / tpm ELSE 0 END);
  IF wait <= 1e-9 THEN
    wait := 0;
    IF rpm > 0 THEN r.requests := r.requests + 1; END IF;
    IF tpm > 0 THEN r.tokens := r.tokens + greatest(0, need); END IF;
  END IF;
  UPDATE remit.rates x SET requests = r.requests, tokens = r.tokens, at = clock_timestamp(),
      per_requests = CASE WHEN rpm > 0 THEN rpm ELSE r.per_requests END,
      per_tokens = CASE WHEN tpm > 0 THEN tpm ELSE r.per_tokens END
    WHERE x.key = r_key;
  RETURN ceil(least(wait, 60) * 60000);
END $$;

-- What a request used more or less than was thought, and how long its provider wants to be left alone.
CREATE FUNCTION remit.tell_rate(k int, inc bigint, r_key text, more float8, pause_ms bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  PERFORM remit.own_kernel(k, inc);
  UPDATE remit.rates x SET tokens = greatest(0, x.tokens + more),
      paused = greatest(x.paused, clock_timestamp() + least(pause_ms, 600000) * interval '1 millisecond')
    WHERE x.key = r_key;
END $$;
`;

const RIGHTS = `
REVOKE ALL ON remit.sums, remit.holds, remit.rates, remit.sums_now FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA remit FROM PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA remit TO remit_kernels;
REVOKE ALL ON FUNCTION remit.own_kernel(int, bigint) FROM remit_kernels;
`;

/** Budgets and rates that all kernels share. */
export const RESERVATION_STEP: Migration = Object.freeze({
  version: 3,
  name: "budgets and rates that kernels share, looks that cost nothing",
  sql: `${TABLES}${FUNCTIONS}${RIGHTS}`,
});
