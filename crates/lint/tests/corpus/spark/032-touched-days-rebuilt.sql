-- form: script
-- expect: none
-- because: the days that were touched are found first and rebuilt whole
SET spark.sql.sources.partitionOverwriteMode=dynamic;
CREATE OR REPLACE TEMPORARY VIEW touched AS
SELECT DISTINCT passage_day FROM raw.bridge_passage WHERE loaded_at >= '${from}' AND loaded_at < '${to}';

INSERT OVERWRITE TABLE mart.bridge_passage PARTITION (passage_day)
SELECT p.passage_id, p.plate_hash, p.cents, p.passage_day
FROM raw.bridge_passage p
JOIN touched d ON d.passage_day = p.passage_day;
