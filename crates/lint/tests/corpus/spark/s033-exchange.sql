-- form: script
-- expect: none
INSERT OVERWRITE TABLE dwd.t PARTITION (dt = '${dt}')
SELECT id, name FROM (SELECT o.*, row_number() OVER (PARTITION BY id ORDER BY ts DESC, binlog_offset DESC) rk FROM ods.t o WHERE dt = '${dt}') x WHERE rk = 1;
