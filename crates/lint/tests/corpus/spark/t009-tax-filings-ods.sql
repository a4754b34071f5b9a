-- form: script
-- expect: OM406 warning `PARTITION (load_dt='${hivevar:run_dt}')`
-- because: the partition is the load date while the rows are chosen by filing date, so a repair run under another batch date writes the same filings to a second partition
-- ODS layer, filings of the day
-- param run_dt : batch date from scheduler (yyyy-MM-dd)
SET hive.exec.compress.output=true;

ALTER TABLE ods.tax_filing ADD IF NOT EXISTS PARTITION (load_dt='${hivevar:run_dt}');

INSERT OVERWRITE TABLE ods.tax_filing PARTITION (load_dt='${hivevar:run_dt}')
SELECT filing_no,
       taxpayer_id,
       form_code,
       filing_date,
       regexp_replace(office, '^0+', '') AS office,
       amount_due
FROM   landing.filing_export
WHERE  filing_date = '${hivevar:filing_dt}'
  AND  form_code NOT IN ('X1','X9');
