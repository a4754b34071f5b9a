-- form: script
-- expect: none
-- because: COPY fills a temp table dropped at commit from a file named by the interval; (quote_day, pair, revision) is its primary key so the pick is total; the upsert assigns and is guarded by >= on revision.
\set ON_ERROR_STOP on

BEGIN;

CREATE TEMP TABLE fx_in (
  quote_day date          NOT NULL,
  pair      char(6)       NOT NULL,
  mid       numeric(14,6) NOT NULL,
  revision  integer       NOT NULL,
  PRIMARY KEY (quote_day, pair, revision)
) ON COMMIT DROP;

COPY fx_in (quote_day, pair, mid, revision)
FROM '/srv/landing/fx/fx_{{ ds_nodash }}.csv' WITH (FORMAT csv, HEADER true);

INSERT INTO ref.fx_rate AS t (quote_day, pair, mid, revision, loaded_at)
SELECT s.quote_day, s.pair, s.mid, s.revision, clock_timestamp()
  FROM (
        SELECT i.*,
               row_number() OVER (PARTITION BY i.quote_day, i.pair
                                  ORDER BY i.revision DESC) AS rn
          FROM fx_in AS i
       ) AS s
 WHERE s.rn = 1
    ON CONFLICT (quote_day, pair) DO UPDATE
   SET mid       = EXCLUDED.mid,
       revision  = EXCLUDED.revision,
       loaded_at = EXCLUDED.loaded_at
 WHERE EXCLUDED.revision >= t.revision;

COMMIT;
