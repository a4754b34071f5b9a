-- form: script
-- expect: none
-- because: The whole month is recomputed and assigned under a key that holds the month; COALESCE of the own write-once audit column is idempotent; the source is unique by GROUP BY; the clock only fills audit columns.
-- member_month has PRIMARY KEY (member_id, month_start)
INSERT INTO loyalty.member_month
       (member_id, month_start, purchases, points, spend_cents, spend, last_purchase_on,
        first_loaded_at, updated_at)
SELECT src.member_id,
       src.month_start,
       src.purchases,
       src.points,
       src.spend_cents,
       src.spend_cents / 100,
       src.last_purchase_on,
       NOW(),
       NOW()
  FROM (
        SELECT p.member_id,
               p.month_start,
               COUNT(*)              AS purchases,
               SUM(p.points)         AS points,
               SUM(p.spend_cents)    AS spend_cents,
               MAX(p.purchased_on)   AS last_purchase_on
          FROM loyalty.purchase AS p
         WHERE p.month_start = :month_start
           AND p.member_id IS NOT NULL
           AND p.voided = 0
         GROUP BY p.member_id, p.month_start
       ) AS src
ON DUPLICATE KEY UPDATE
       purchases        = VALUES(purchases),
       points           = VALUES(points),
       spend_cents      = VALUES(spend_cents),
       spend            = VALUES(spend_cents) / 100,
       last_purchase_on = VALUES(last_purchase_on),
       first_loaded_at  = COALESCE(first_loaded_at, VALUES(first_loaded_at)),
       updated_at       = VALUES(updated_at);
