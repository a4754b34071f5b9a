-- form: script
-- expect: OM309 error `enabled = NOT enabled`
UPDATE app.feature SET enabled = NOT enabled WHERE region = :region;
