-- form: script
-- expect: OM403 error `loaded_at >= '${from}' AND loaded_at < '${to}'`
SET spark.sql.sources.partitionOverwriteMode=dynamic;
INSERT OVERWRITE TABLE mart.toll_passage PARTITION (passage_day)
SELECT passage_id, plate_hash, cents, passage_day
FROM raw.toll_passage
WHERE loaded_at >= '${from}' AND loaded_at < '${to}';
