-- form: script
-- expect: none
FROM ods.log l
INSERT OVERWRITE TABLE dwd.pv PARTITION (dt = '${dt}') SELECT l.page, count(1) WHERE l.dt = '${dt}' AND l.kind = 'pv' GROUP BY l.page
INSERT OVERWRITE TABLE dwd.uv PARTITION (dt = '${dt}') SELECT l.page, count(distinct l.uid) WHERE l.dt = '${dt}' AND l.kind = 'pv' GROUP BY l.page;
