-- form: script
-- expect: OM302 error `ON CONFLICT (team_api_id) DO NOTHING`
INSERT INTO soccer."Team" (team_api_id, "teamName", stadium, founded)
SELECT (doc ->> 'id')::int,
       doc ->> 'name',
       doc -> 'venue' ->> 'name',
       NULLIF(doc ->> 'founded', '')::int
FROM staging.team_json
ON CONFLICT (team_api_id) DO NOTHING;
