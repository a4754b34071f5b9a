-- form: script
-- expect: none
-- because: One change per key by a total order (log position is unique), keys compared null-safely, an older change never replaces a newer one, deletes are kept as tombstones so they cannot come back.
CREATE TABLE IF NOT EXISTS cdc.customer_change (
    tenant_id    STRING,
    customer_no  BIGINT NOT NULL,
    op           STRING NOT NULL,
    full_name    STRING,
    email        STRING,
    changed_at   TIMESTAMP NOT NULL,
    log_position BIGINT NOT NULL,
    CONSTRAINT pk_customer_change PRIMARY KEY (log_position)
) USING DELTA;

MERGE INTO silver.customer AS t
USING (
    SELECT tenant_id, customer_no, op, full_name, email, changed_at, log_position
    FROM (
        SELECT c.*,
               row_number() OVER (PARTITION BY c.tenant_id, c.customer_no
                                  ORDER BY c.log_position DESC) AS newest
        FROM cdc.customer_change AS c
        WHERE c.changed_at >= :interval_start
          AND c.changed_at <  :interval_end
    ) x
    WHERE newest = 1
) AS s
ON  t.tenant_id <=> s.tenant_id
AND t.customer_no = s.customer_no
WHEN MATCHED AND s.log_position >= t.log_position THEN UPDATE SET
    full_name    = s.full_name,
    email        = s.email,
    is_deleted   = (s.op = 'D'),
    changed_at   = s.changed_at,
    log_position = s.log_position
WHEN NOT MATCHED THEN INSERT
    (tenant_id, customer_no, full_name, email, is_deleted, changed_at, log_position)
VALUES
    (s.tenant_id, s.customer_no, s.full_name, s.email, (s.op = 'D'), s.changed_at, s.log_position);
