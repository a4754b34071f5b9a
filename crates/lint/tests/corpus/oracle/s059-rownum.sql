-- form: script
-- expect: OM206 error `ROWNUM <= 1`
MERGE INTO dwh.rate t USING (SELECT ccy, rate FROM (SELECT r.ccy, r.rate FROM raw.rate r WHERE r.ccy = :ccy) WHERE ROWNUM <= 1) s
ON (t.ccy = s.ccy) WHEN MATCHED THEN UPDATE SET t.rate = s.rate WHEN NOT MATCHED THEN INSERT (ccy, rate) VALUES (s.ccy, s.rate);
COMMIT;
