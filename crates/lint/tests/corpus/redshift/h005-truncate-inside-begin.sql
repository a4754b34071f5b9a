-- form: script
-- expect: OM311 error `TRUNCATE TABLE bi.churn_summary`
BEGIN;
TRUNCATE TABLE bi.churn_summary;
INSERT INTO bi.churn_summary (segment, month_start, churned, base)
SELECT segment,
       DATE_TRUNC('month', churn_date)::date,
       COUNT(*),
       MAX(segment_base)
FROM bi.churn_detail
GROUP BY 1, 2;
END;
