-- form: script
-- expect: OM319 warning `WHEN MATCHED THEN UPDATE`
-- because: re-running an old day overwrites the newer state of the member, there is no recency guard
-- current tier + address per member, from the daily change file
-- @day: DATE of the change file
MERGE `loyalty.core.member` AS t
USING (
  SELECT
    member_id,
    tier,
    postcode,
    email_opt_in,
    changed_at
  FROM `loyalty.raw.member_change`
  WHERE changed_on = @day
    AND member_id IS NOT NULL
  QUALIFY ROW_NUMBER() OVER (
    PARTITION BY member_id
    ORDER BY changed_at DESC, change_id DESC   -- change_id is the PK of the file
  ) = 1
) AS s
ON t.member_id = s.member_id
WHEN MATCHED THEN
  UPDATE SET
    tier         = s.tier,
    postcode     = s.postcode,
    email_opt_in = s.email_opt_in,
    changed_at   = s.changed_at
WHEN NOT MATCHED THEN
  INSERT (member_id, tier, postcode, email_opt_in, changed_at)
  VALUES (s.member_id, s.tier, s.postcode, s.email_opt_in, s.changed_at);
