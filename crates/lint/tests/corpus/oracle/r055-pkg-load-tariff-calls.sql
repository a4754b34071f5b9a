-- form: script
-- expect: none
-- because: p_day bounds delete and insert alike on the same column, one commit at the end with rollback on error, SYSDATE only fills an audit column.
CREATE OR REPLACE PROCEDURE dwh.load_rated_calls (p_day IN DATE)
AS
BEGIN
    DELETE FROM dwh.rated_call
     WHERE call_start >= p_day
       AND call_start <  p_day + 1;

    INSERT INTO dwh.rated_call
         ( call_id
         , msisdn
         , call_start
         , seconds
         , tariff_code
         , charge
         , etl_loaded_at )
    SELECT c.call_id
         , c.msisdn
         , c.call_start
         , c.seconds
         , t.tariff_code
         , ROUND(CEIL(c.seconds / 60) * t.price_per_min, 4)
         , SYSDATE
      FROM mediation.cdr c
      JOIN dwh.subscriber_tariff t
        ON t.msisdn = c.msisdn
       AND c.call_start >= t.valid_from
       AND c.call_start <  t.valid_to
     WHERE c.call_start >= p_day
       AND c.call_start <  p_day + 1;

    DELETE FROM dwh.revenue_by_tariff
     WHERE revenue_day = p_day;

    INSERT INTO dwh.revenue_by_tariff
         ( revenue_day
         , tariff_code
         , calls
         , subscribers
         , charge
         , share_of_day
         , charge_rank )
    SELECT p_day
         , r.tariff_code
         , COUNT(*)
         , COUNT(DISTINCT r.msisdn)
         , SUM(r.charge)
         , ROUND(RATIO_TO_REPORT(SUM(r.charge)) OVER (), 4)
         , DENSE_RANK() OVER (ORDER BY SUM(r.charge) DESC)
      FROM dwh.rated_call r
     WHERE r.call_start >= p_day
       AND r.call_start <  p_day + 1
     GROUP BY r.tariff_code;

    COMMIT;
EXCEPTION
    WHEN OTHERS THEN
        ROLLBACK;
        RAISE;
END load_rated_calls;
/
