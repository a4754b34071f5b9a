-- form: script
-- expect: none
TRUNCATE TABLE staging.member;
COPY staging.member
FROM 's3://acme-lake/member/current.csv.gz'
IAM_ROLE '{{ params.iam_role }}'
CSV GZIP IGNOREHEADER 1;

BEGIN;
DELETE FROM core.member USING staging.member s WHERE core.member.member_id = s.member_id;
INSERT INTO core.member (member_id, name, level, loaded_at)
SELECT member_id, MAX(name), MAX(level), getdate()
FROM staging.member
GROUP BY member_id;
COMMIT;
