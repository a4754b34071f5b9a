-- form: script
-- expect: OM309 error `downloads = package_stats.downloads + EXCLUDED.downloads`
WITH batch AS (
    SELECT package_name, COUNT(*) AS downloads, MAX(ts) AS last_download
    FROM download_log
    WHERE log_date = :'log_date'
    GROUP BY package_name
)
INSERT INTO package_stats (package_name, downloads, last_download)
SELECT package_name, downloads, last_download FROM batch
ON CONFLICT (package_name)
DO UPDATE SET
    downloads = package_stats.downloads + EXCLUDED.downloads,
    last_download = GREATEST(package_stats.last_download, EXCLUDED.last_download);
