-- form: script
-- expect: OM302 error `INSERT IGNORE`
-- expect: OM205 error `GROUP_CONCAT(t.tag SEPARATOR ' ')`
-- because: An article whose title or tags were corrected after the first run is silently ignored by the repair run. GROUP_CONCAT without ORDER BY stores the same tags in another order from run to run.
SET @run_date = '{{ ds }}';
SET SESSION group_concat_max_len = 65536;

START TRANSACTION;

INSERT IGNORE INTO catalog.article_index
       (article_id, published_on, title, author_id, tag_list)
SELECT a.article_id,
       a.published_on,
       a.title,
       a.author_id,
       GROUP_CONCAT(t.tag SEPARATOR ' ') AS tag_list
  FROM cms.article AS a
  LEFT JOIN cms.article_tag AS t
    ON t.article_id = a.article_id
 WHERE a.published_on = @run_date
 GROUP BY a.article_id, a.published_on, a.title, a.author_id;

COMMIT;
