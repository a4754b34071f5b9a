-- form: script
-- expect: none
insert into stats.repo_language as rl (repo_id, language, bytes, refreshed_at)
select  f.repo_id,
        f.language,
        sum(f.size_bytes),
        now()
from    ingest.repo_file f
group by f.repo_id, f.language
on conflict on constraint repo_language_pkey
do update set bytes       = excluded.bytes,
              refreshed_at = excluded.refreshed_at;
