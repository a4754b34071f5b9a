-- form: script
-- expect: none
-- because: One winner per parcel by a total order (event_id is the primary key of the events), and the upsert only replaces a row that is not newer, so any order of runs ends the same.
CREATE TABLE IF NOT EXISTS landing.parcel_event (
    event_id    bigint PRIMARY KEY,
    parcel_id   text        NOT NULL,
    status      text        NOT NULL,
    depot       text,
    changed_at  timestamptz NOT NULL
);

BEGIN;

CREATE TEMP TABLE latest_status ON COMMIT DROP AS
SELECT DISTINCT ON (parcel_id)
       parcel_id, status, depot, changed_at, event_id
FROM   landing.parcel_event
WHERE  changed_at >= :interval_start
AND    changed_at <  :interval_end
ORDER  BY parcel_id, changed_at DESC, event_id DESC;

INSERT INTO core.parcel AS p
       (parcel_id, status, depot, changed_at, last_event_id)
SELECT parcel_id, status, depot, changed_at, event_id
FROM   latest_status
ON CONFLICT (parcel_id) DO UPDATE
SET    status        = EXCLUDED.status,
       depot         = EXCLUDED.depot,
       changed_at    = EXCLUDED.changed_at,
       last_event_id = EXCLUDED.last_event_id
WHERE  (p.changed_at, p.last_event_id) <= (EXCLUDED.changed_at, EXCLUDED.last_event_id);

COMMIT;
