-- form: script
-- expect: OM105 error `reflect('java.util.UUID', 'randomUUID')`
-- expect: OM201 warning `ROW_NUMBER() OVER (PARTITION BY x.member_no ORDER BY x.update_time DESC)`
-- because: every re-run of the same partition gives each member another id, so everything joined on the old one is orphaned two card records of a member with the same update_time tie, so another one may be kept on the re-run
-- dwd: full member list, one partition per business date
INSERT OVERWRITE TABLE dwd.member_full PARTITION (pt = '${PT_DATE}')
SELECT
  reflect('java.util.UUID', 'randomUUID') AS horus_id,
  m.member_no,
  m.card_level,
  m.mobile_hash,
  m.register_time,
  COALESCE(m.city_code, 'UNKNOWN') AS city_code
FROM (
  SELECT
    x.*,
    ROW_NUMBER() OVER (PARTITION BY x.member_no ORDER BY x.update_time DESC) AS num
  FROM ods.crm_member x
  WHERE x.pt = '${PT_DATE}'
    AND x.is_deleted = 0
) m
WHERE m.num = 1;
