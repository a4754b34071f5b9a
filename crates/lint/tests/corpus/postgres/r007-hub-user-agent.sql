-- form: script
-- expect: none
-- because: Rows are content addressed: the key is the hash of every other column, so a row already present cannot differ from the incoming one and DO NOTHING loses nothing.
-- raw vault: hub of user agents and link page <-> agent
-- the hash key covers the whole row, there are no descriptive columns and no load stamp
INSERT INTO dv.hub_user_agent (ua_hk, ua_string)
SELECT DISTINCT md5(l.ua_string), l.ua_string
FROM landing.weblog AS l
WHERE l.logged_at >= :interval_start
  AND l.logged_at <  :interval_end
  AND l.ua_string IS NOT NULL
ON CONFLICT (ua_hk) DO NOTHING;

INSERT INTO dv.link_page_agent (link_hk, page_path, ua_string)
SELECT DISTINCT
       md5(l.page_path || chr(31) || l.ua_string),
       l.page_path,
       l.ua_string
FROM landing.weblog AS l
WHERE l.logged_at >= :interval_start
  AND l.logged_at <  :interval_end
  AND l.ua_string IS NOT NULL
  AND l.page_path IS NOT NULL
ON CONFLICT (link_hk) DO NOTHING;
