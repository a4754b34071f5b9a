-- form: script
-- expect: none
INSERT OR REPLACE INTO repo_stats
SELECT repo_id, week, sum(commits) AS commits, max(stars) AS stars
FROM repo_week
WHERE week = $week
GROUP BY ALL;
