-- form: script
-- expect: OM311 error `TRUNCATE TABLE agg_article_view`
START TRANSACTION;
TRUNCATE TABLE agg_article_view;
INSERT INTO agg_article_view (article_id, views)
SELECT article_id, COUNT(*) FROM article_view GROUP BY article_id;
COMMIT;
