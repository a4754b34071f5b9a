-- form: script
-- expect: none
REPLACE INTO app_setting (name, value) VALUES
  ('session_timeout', '1800'),
  ('clock_source', 'NOW()'),
  ('motd', 'INSERT IGNORE is not what you think');
