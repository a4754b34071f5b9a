-- form: script
-- expect: OM313 error `copy web.clickstream`
-- because: COPY into the final table, the same manifest delivered twice is loaded twice.
-- clickstream loader, called from lambda for every manifest
begin;

copy web.clickstream
  (click_id, session_id, user_id, url, clicked_at, ua_family)
from 's3://acme-clicks/manifests/{{ manifest_key }}'
iam_role 'arn:aws:iam::111122223333:role/redshift-copy'
manifest
format as csv gzip
timeformat 'epochmillisecs'
maxerror 0;

insert into web.load_audit (manifest, loaded_at, rows_loaded)
select '{{ manifest_key }}', getdate(), pg_last_copy_count();

commit;
