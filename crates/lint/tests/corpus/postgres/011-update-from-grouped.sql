-- form: script
-- expect: none
UPDATE crm.account AS a
SET open_deals = d.open_deals,
    won_cents = d.won_cents
FROM (
  SELECT account_id,
         count(*) FILTER (WHERE stage NOT IN ('won', 'lost')) AS open_deals,
         coalesce(sum(cents) FILTER (WHERE stage = 'won'), 0) AS won_cents
  FROM crm.deal
  GROUP BY account_id
) AS d
WHERE d.account_id = a.account_id;
