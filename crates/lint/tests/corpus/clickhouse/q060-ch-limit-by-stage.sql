-- form: script
-- expect: OM318 warning `INSERT INTO crm.user_last_touch_stage`
-- expect: OM203 warning `LIMIT 1 BY user_id`
-- because: The staging table keeps what earlier or failed runs of the day left in it, because it is never truncated, and REPLACE PARTITION publishes the leftovers with it. Two touches in the same second tie, and either campaign is kept.
CREATE TABLE IF NOT EXISTS crm.user_last_touch_stage AS crm.user_last_touch;

-- one row per user and day: the last campaign that touched the user
INSERT INTO crm.user_last_touch_stage (touch_day, user_id, campaign, medium, touched_at)
SELECT
    touch_day,
    user_id,
    campaign,
    medium,
    touched_at
FROM crm.touch                       -- touched_at has one-second resolution
WHERE touch_day = toDate('${ds}')
ORDER BY user_id, touched_at DESC
LIMIT 1 BY user_id;

ALTER TABLE crm.user_last_touch REPLACE PARTITION '${ds}' FROM crm.user_last_touch_stage;
