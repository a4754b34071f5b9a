-- form: script
-- expect: none
BEGIN;
DROP TABLE IF EXISTS mart.ping_20240301;
CREATE TABLE mart.ping_20240301 (LIKE mart.ping INCLUDING ALL);
INSERT INTO mart.ping_20240301 (unit_id, ping_at, km) SELECT unit_id, ping_at, km FROM raw.ping WHERE ping_day = :'day';
ALTER TABLE mart.ping ATTACH PARTITION mart.ping_20240301 FOR VALUES FROM (:'day') TO (:'next_day');
COMMIT;
